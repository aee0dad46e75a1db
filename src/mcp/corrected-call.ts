import { asServiceError } from '../errors.js'
import type { ServiceError } from '../errors.js'
import { CorrectableError } from '../columns/correction.js'
import type { Correction, FilterText } from '../columns/correction.js'
import { isAbsent } from '../query/read-shape.js'
import { recordOf } from '../registry/shape.js'
import { nearestNames } from '../text.js'
import { inMcpWords } from './error-words.js'

/** A call with more mistakes is not corrected. */
const mistakesMax = 4
/** A longer corrected call does not help. */
const lettersMax = 500

type Arguments = Readonly<Record<string, unknown>>

/**
 * The caller's call, corrected, as `Corrected call: query {…}`, or with an example in the place of
 * a value that only the caller knows; before it, what else was wrong. Null if a mistake has no
 * correction that keeps the meaning, or the call is too long. `check` rejects what is still wrong:
 * no call is offered that fails.
 */
export async function correctedCall(
  tool: string,
  args: Arguments,
  error: ServiceError,
  check: (args: Arguments) => Promise<unknown>,
): Promise<string | null> {
  const others: string[] = []
  let [corrected, mistake, isExample] = [args, error, false]
  while (others.length < mistakesMax) {
    const correction = mistake instanceof CorrectableError ? mistake.correction : null
    if (correction === null || !keepsMeaning(corrected, correction)) return null
    corrected = correct(corrected, correction)
    isExample ||= isExampleOf(correction)
    const text = JSON.stringify(corrected)
    if (text.length > lettersMax) return null
    const found = await check(corrected).then(() => null, asServiceError)
    if (found === null) {
      const call = `${isExample ? 'A call of the right form' : 'Corrected call'}: ${tool} ${text}`
      return [...others, call].join('\n')
    }
    others.push(`Also: ${inMcpWords(found.detail).slice(0, lettersMax)}`)
    mistake = found
  }
  return null
}

function isExampleOf(correction: Correction): boolean {
  const { kind } = correction
  return kind === 'example' || kind === 'add-filter' || (kind === 'part' && !!correction.isExample)
}

/**
 * A correction repairs the form of a call: no argument, and no operand, number, name or sign of a
 * text may be lost but a name for one that is near.
 */
export function keepsMeaning(args: Arguments, correction: Correction): boolean {
  const { kind } = correction
  if (kind === 'rename') return !Object.hasOwn(args, correction.meant)
  if (kind !== 'part' && kind !== 'column') return true
  if (correction.isSame) return true
  if (kind === 'part' && correction.isExample) return true
  // A name may have become a function: `month(day)` for `day.month`.
  const gained = tokensOf(correction.meant)
  const signs = (words: readonly string[]) => words.filter((word) => /^[@+*-]$/.test(word)).length
  if (signs(wordsOf(correction.meant)) > signs(wordsOf(correction.written))) return false
  return wordsOf(correction.written).every((word) => {
    const [same = -1] = [
      gained.indexOf(word),
      gained.findIndex((each) => isNear(word, each)),
    ].filter((at) => at !== -1)
    if (same === -1) return formWords.has(word)
    gained.splice(same, 1)
    return true
  })
}

/** Words that say how, not what: others take their place. */
const formWords: ReadonlySet<string> = new Set([
  ...['as', 'asc', 'desc', 'distinct', 'nulls', 'first', 'last'],
])

/** Of short names, any other is near. */
function isNear(word: string, other: string): boolean {
  return word.length > 2 && nearestNames(word, [other]).length > 0
}

/** The names, numbers and signs of an element; not the functions, which get other names. */
function wordsOf(text: string): string[] {
  const tokens = tokensOf(text)
  return tokens.filter((token, at) => {
    if (token === '-') return at > 0 && tokens[at - 1] !== '('
    return token !== '(' && token !== ')' && tokens[at + 1] !== '('
  })
}

function tokensOf(text: string): string[] {
  const plain = text.toLowerCase().replace('(*)', '')
  return plain.match(/[\p{L}\p{N}_]+|[@+*()-]/gu) ?? []
}

/** The arguments with one mistake corrected; the others as they are. */
export function correct(args: Arguments, correction: Correction): Arguments {
  switch (correction.kind) {
    case 'drop': {
      const { [correction.key]: dropped, ...others } = args
      return others
    }
    case 'rename':
      return renamed(args, correction)
    case 'add-filter':
      return withFilter(args, correction.filter)
    case 'limit':
      return { ...args, limit: correction.meant }
    case 'part': {
      const { key, written, meant } = correction
      return { ...args, [key]: withPart(args[key], written, meant) }
    }
    case 'add-part': {
      const { key, meant } = correction
      const { [key]: part } = args
      const list: readonly unknown[] = Array.isArray(part) ? part : isAbsent(part) ? [] : [part]
      return { ...args, [key]: [...list, meant] }
    }
    case 'arguments': {
      const { meant, filter } = correction
      const entries = Object.entries({ ...args, ...meant }).filter(([, value]) => !isAbsent(value))
      return withFilter(Object.fromEntries(entries), filter)
    }
    case 'column': {
      const { select } = args
      const renamed = withFilters(args, (filter) => replaced(filter, 'column', correction))
      if (!Array.isArray(select)) return renamed
      return { ...renamed, select: select.map((name: unknown) => corrected(name, correction)) }
    }
    case 'filter': {
      const { column, operator, meant } = correction
      return withFilters(args, (filter) =>
        filter['column'] === column && filter['op'] === operator ? { ...meant } : filter,
      )
    }
    case 'as-text':
      return withFilters(args, (filter) =>
        filter['column'] === correction.column
          ? { ...filter, value: asText(filter['value']) }
          : filter,
      )
    case 'operator':
    case 'example': {
      const key = correction.kind === 'operator' ? 'op' : 'value'
      return withFilters(args, (filter) =>
        filter['column'] === correction.column ? replaced(filter, key, correction) : filter,
      )
    }
  }
}

/** The argument in its place by the other name. */
function renamed(
  args: Arguments,
  { key, meant }: { readonly key: string; readonly meant: string },
): Arguments {
  const entries = Object.entries(args)
  return Object.fromEntries(entries.map(([name, value]) => [name === key ? meant : name, value]))
}

function withFilters(args: Arguments, change: (filter: Arguments) => Arguments): Arguments {
  const { filters } = args
  if (!Array.isArray(filters)) return args
  return { ...args, filters: filters.map((filter: unknown) => change(recordOf(filter))) }
}

function withFilter(args: Arguments, filter: FilterText | undefined): Arguments {
  if (!filter) return args
  const filters: unknown[] = Array.isArray(args['filters']) ? args['filters'] : []
  return { ...args, filters: [...filters, filter] }
}

/** Replaces an element of a list, or the first place of a text that is not within a word. */
function withPart(part: unknown, written: string, meant: string): unknown {
  if (Array.isArray(part)) return part.map((each) => withPart(each, written, meant))
  if (typeof part !== 'string') return part
  const literal = written.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const place = new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, 'u')
  return part.replace(place, () => meant)
}

/** A number, or each number of a list, as a text. */
function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText)
  return typeof value === 'number' ? String(value) : value
}

interface Replacement {
  readonly written: string | number
  readonly meant: string | number
}

function replaced(filter: Arguments, key: string, replacement: Replacement): Arguments {
  return { ...filter, [key]: corrected(filter[key], replacement) }
}

/** Replaces a value, or each element of a list, that equals `written`. */
function corrected(value: unknown, { written, meant }: Replacement): unknown {
  if (Array.isArray(value)) return value.map((each) => corrected(each, { written, meant }))
  const isWritten = typeof value === 'string' || typeof value === 'number'
  return isWritten && String(value) === String(written) ? meant : value
}
