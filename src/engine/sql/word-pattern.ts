import { foldCharacter } from '../../columns/search-words.js'
import { literal } from './quote.js'

/** Every character with an upper or lower case is before this one; a test reads all of Unicode. */
export const casedEnd = 0x1_f000

/**
 * A regular expression (RE2) for texts whose folded form has this folded word; null if every
 * character has one form only. One pass over a text costs a quarter of `lower` and `replace`, and
 * the forms of a letter depend on this process alone, not on the Unicode version of DuckDB.
 */
export function wordPattern(word: string): string | null {
  const characters = Array.from(word)
  if (!characters.some((character) => formsOf.has(character))) return null
  return characters
    .map((character) => {
      const forms = formsOf.get(character)
      return forms ? `[${forms.map(escaped).join('')}]` : escaped(character)
    })
    .join('')
}

/**
 * SQL for a text folded like `foldText`. DuckDB makes the table of `translate` again for each text,
 * so texts with none but usual forms get a short table.
 */
export function foldedSql(sql: string): string {
  const all = [...formsOf].flatMap(([folded, forms]) => {
    return forms.filter((form) => form !== folded).map((form) => ({ form, folded }))
  })
  const usual = all.filter(({ form }) => usualForms.test(form))
  const others = all.filter(({ form }) => !usualForms.test(form))
  const textOf = (characters: readonly string[]) => literal(characters.join(''))
  const table = (list: typeof all) =>
    `${textOf(list.map(({ form }) => form))}, ${textOf(list.map(({ folded }) => folded))}`
  const anyOther = `[${others.map(({ form }) => escaped(form)).join('')}]`
  const hasOthers = `regexp_matches(${sql}, '${anyOther}')`
  return `CASE WHEN ${hasOthers} THEN translate(${sql}, ${table(all)})
    ELSE translate(${sql}, ${table(usual)}) END`
}

/** Latin and Cyrillic letters. */
const usualForms = /[A-Z\u0400-\u045f]/

/** Every form of each folded character that has several. */
const formsOf: ReadonlyMap<string, readonly string[]> = findForms()

function findForms(): ReadonlyMap<string, readonly string[]> {
  const points = Array.from({ length: casedEnd }, (_, point) => point)
  const unpaired = (point: number) => point >= 0xd800 && point <= 0xdfff
  const all = points.flatMap((point) => (unpaired(point) ? [] : String.fromCodePoint(point)))
  const forms = new Map<string, string[]>()
  for (const [character] of all.join('').matchAll(/\p{Changes_When_Casemapped}/gu)) {
    const folded = foldCharacter(character)
    if (folded === character) continue
    const known = forms.get(folded)
    if (known) known.push(character)
    else forms.set(folded, [folded, character])
  }
  return forms
}

function escaped(character: string): string {
  return String.raw`\x{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
