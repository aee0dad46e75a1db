import { createHash } from 'node:crypto'
import type { CodeLabels, CodeLevel, CodeNames, UpperCodes } from '../columns/codes.js'
import { isGroupable } from '../columns/functions.js'
import type { Column } from '../columns/column.js'
import { plainText } from '../plain-text.js'
import { quoted } from '../text.js'
import { readCsv } from './csv-rows.js'
import { inEnglishOrNull, inRussian } from './local-text.js'
import type { LocalText } from './local-text.js'
import type { DatasetEntry } from './registry-schema.js'
import type { Problem } from './registry.js'

/**
 * Reads the names of codes: CSV with a header row, the column `code`, and `name`, `name_ru` or
 * both. A code with one name has it in both languages. `upperColumns` have the codes of upper
 * levels; other columns are ignored.
 * @throws Error with the mistake and its line
 */
export function parseCodeLabels(text: string, upperColumns: readonly string[] = []): CodeLabels {
  const plain = new Map<string, string>()
  const russian = new Map<string, string>()
  const uppers = new Map(upperColumns.map((column) => [column, new Map<string, string>()]))
  for (const { record, line } of readCsv(text, 'code')) {
    const { code = '', name, name_ru: russianName } = record
    if (name === undefined && russianName === undefined) {
      throw new Error('the header row has no "name" and no "name_ru"')
    }
    if (code === '') throw new Error(`line ${line} has no code`)
    if (plain.has(code)) throw new Error(`line ${line}: ${quoted(code)} is listed twice`)
    const [first, other] = [plainText(name ?? ''), plainText(russianName ?? '')]
    if (first === '' && other === '') throw new Error(`line ${line}: ${quoted(code)} has no name`)
    plain.set(code, first || other)
    russian.set(code, other || first)
    for (const [column, codes] of uppers) {
      const upper = record[column]
      if (upper === undefined) throw new Error(`the header row has no ${quoted(column)}`)
      if (upper !== '') codes.set(code, upper)
    }
  }
  return Object.freeze({
    plain: codeNames(plain),
    russian: codeNames(russian),
    uppers: new Map(
      [...uppers].map(([column, codes]) => [column, { codes, digest: digestOf(codes) }]),
    ),
  })
}

function codeNames(names: ReadonlyMap<string, string>): CodeNames {
  return Object.freeze({ names, digest: digestOf(names) })
}

function digestOf(texts: ReadonlyMap<string, string>): string {
  return createHash('sha256')
    .update(JSON.stringify([...texts]))
    .digest('hex')
}

type LevelPlace = number | string
/** An object has one of `chars` and `column`. */
type LevelEntry =
  | LevelPlace
  | {
      readonly chars?: number | undefined
      readonly column?: string | undefined
      readonly label?: LocalText | undefined
    }
type Levels = Readonly<Record<string, LevelEntry>>

/** How many characters of a code a level has, or the column of the labels file that has it. */
function levelPlace(level: LevelEntry): LevelPlace {
  return typeof level === 'object' ? (level.chars ?? level.column ?? '') : level
}

/** The columns of the labels file that levels name. */
export function upperColumns(levels: Levels = {}): readonly string[] {
  return Object.values(levels)
    .map(levelPlace)
    .filter((place) => typeof place === 'string')
}

/** The levels of a column in the registry: those of characters, the shortest first, then others. */
export function codeLevels(
  levels: Levels = {},
  uppers: ReadonlyMap<string, UpperCodes> = new Map(),
): readonly CodeLevel[] {
  const entries = Object.entries(levels).map(([name, level]) => {
    const stated = typeof level === 'object' ? level.label : null
    const labels = { label: inEnglishOrNull(stated), russian: { label: inRussian(stated) } }
    return { place: levelPlace(level), about: { name, ...labels } }
  })
  const prefixes = entries.flatMap(({ place, about }) =>
    typeof place === 'number' ? [{ ...about, length: place }] : [],
  )
  const listed = entries.flatMap(({ place, about }) => {
    const found = uppers.get(String(place))
    return typeof place === 'string' && found ? [{ ...about, uppers: found }] : []
  })
  return [...prefixes.sort((left, right) => left.length - right.length), ...listed]
}

/** Levels and labels of columns that can't have them. */
export function codeProblems(
  { columns: stated = {} }: DatasetEntry,
  columns: readonly Column[],
): readonly Problem[] {
  return columns.flatMap((column) => {
    const { levels, labels } = Object.hasOwn(stated, column.source)
      ? (stated[column.source] ?? {})
      : {}
    const { name, source, rules } = column
    const problems: Problem[] = []
    if (levels !== undefined && rules.shown !== 'string') {
      const message = `levels are for codes in a text column; ${quoted(name)} is ${rules.shown}`
      problems.push({ path: ['columns', source, 'levels'], message })
    }
    if (labels !== undefined && !isGroupable(column)) {
      const message = `rows can't be grouped by ${quoted(name)} (${rules.shown}): it has no codes`
      problems.push({ path: ['columns', source, 'labels'], message })
    }
    return problems
  })
}

/** Columns marked with `search` that are not stored as text. */
export function searchProblems(
  { columns: stated = {} }: DatasetEntry,
  columns: readonly Column[],
): readonly Problem[] {
  return columns.flatMap(({ name, source, rules: { shown, domain } }) => {
    const isMarked = Object.hasOwn(stated, source) && stated[source]?.search
    if (!isMarked || (domain.kind === 'text' && domain.form === 'text')) return []
    const what = shown === 'string' ? 'not stored as text' : shown
    const message = `search is for text columns; ${quoted(name)} is ${what}`
    return [{ path: ['columns', source, 'search'], message }]
  })
}
