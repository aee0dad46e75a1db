import { badRequest } from '../../errors.js'
import { didYouMean, quoted } from '../../text.js'
import type { CellKind } from './cell-kinds.js'
import { isCodeName } from './code-names.js'
import { TableError, shownText } from './table.js'
import type { TableTexts } from './table.js'

const plainTypes = ['text', 'integer', 'double', 'boolean', 'date', 'timestamp', 'instant'] as const

/** The type of a column that is written from texts, as `--type` takes it. */
export type CellType = (typeof plainTypes)[number] | `decimal(${number},${number})`

/** A type that the owner states; the values give `decimal` its width. */
export type StatedType = CellType | 'decimal'

/** The values of one kind in a column. */
export interface KindFacts {
  readonly count: number
  /** The first of them. */
  readonly line: number
  readonly cell: string
}

/** All values of a column, by kind, and the most digits before and after the point. */
export interface ColumnFacts {
  readonly kinds: ReadonlyMap<CellKind, KindFacts>
  readonly whole: number
  readonly scale: number
  /** Every number with a fraction or an exponent is exact as a double. */
  readonly isExactDouble: boolean
}

/** A column with its type. */
export interface TypedColumn {
  readonly name: string
  readonly type: CellType
  /** Why it is text, or null. */
  readonly why: string | null
  readonly emptyRows: number
}

/** The columns, and what has to be confirmed. */
export interface TypedColumns {
  readonly columns: readonly TypedColumn[]
  readonly doubts: readonly string[]
}

/** The widest decimal of Parquet. */
export const decimalWidthMax = 38
const wideScale = 18

/** The decimal for numbers with this many digits before and after the point; null if none. */
export function decimalType({
  whole,
  scale,
}: Pick<ColumnFacts, 'whole' | 'scale'>): CellType | null {
  const width = Math.max(1, whole) + scale
  if (width > decimalWidthMax) return null
  return `decimal(${width <= wideScale ? wideScale : decimalWidthMax},${scale})`
}

/**
 * Reads `column=TYPE` texts.
 * @throws bad_request, also for a column that the file does not have
 */
export function readStatedTypes(
  texts: readonly string[],
  names: readonly string[],
): ReadonlyMap<string, StatedType> {
  const stated = new Map<string, StatedType>()
  for (const text of texts) {
    const [, name = '', type = ''] = /^(.+)=(.*)$/s.exec(text) ?? []
    const known = readType(type.toLowerCase().replaceAll(' ', ''))
    if (known === null) {
      throw badRequest(
        `--type takes column=TYPE, got ${quoted(text)}. TYPE is one of ${plainTypes.join(', ')}, ` +
          'decimal or decimal(18,2).',
      )
    }
    if (!names.includes(name)) {
      const hint = didYouMean(name, names)
      throw badRequest(`--type names no column of the file: ${quoted(name)}.${hint}`)
    }
    stated.set(name, known)
  }
  return stated
}

function readType(text: string): StatedType | null {
  const plain = plainTypes.find((type) => type === text)
  if (plain ?? text === 'decimal') return plain ?? 'decimal'
  const [, digits, places] = /^decimal\((\d{1,2}),(\d{1,2})\)$/.exec(text) ?? []
  const [width, scale] = [Number(digits), Number(places)]
  return width >= 1 && width <= decimalWidthMax && scale <= width
    ? `decimal(${width},${scale})`
    : null
}

/**
 * The types of all columns: what the owner states, or else what holds every value exactly.
 * @throws TableError for a decimal of more digits than there are
 */
export function decideColumns(
  { names, rows, texts, wordsLine }: TableTexts,
  stated: ReadonlyMap<string, StatedType>,
  facts: readonly ColumnFacts[],
): TypedColumns {
  const doubts = new Map<number, string>()
  const columns = facts.map((column, index) => {
    const name = names[index] ?? ''
    const filled = [...column.kinds.values()].reduce((sum, { count }) => sum + count, 0)
    const type = stated.get(name)
    const decided = type
      ? { type: exactly(name, type, column), why: null }
      : decideType(name, column, texts.has(index))
    const { text: odd, ...others } = Object.fromEntries(column.kinds)
    if (!type && odd?.count === 1 && odd.line === wordsLine) {
      const kinds = new Map(Object.entries(others) as [CellKind, KindFacts][])
      const { type: better } = decideType(name, { ...column, kinds }, false)
      if (better !== 'text') doubts.set(wordsLine, secondNames(odd, name, better))
    }
    return { name, ...decided, emptyRows: rows - filled }
  })
  return { columns, doubts: [...doubts.values()] }
}

function secondNames({ line, cell }: KindFacts, name: string, type: CellType): string {
  return (
    `line ${line} may be names or units, not values: without ${shownText(cell)}, ` +
    `${quoted(name)} would be ${type}. Use --skip-lines ${line - 1} if the names are there, ` +
    `or --type ${name}=text if it is a value.`
  )
}

/** The type that holds every value of a column exactly, and why it is text. */
function decideType(
  name: string,
  facts: ColumnFacts,
  isText: boolean,
): { readonly type: CellType; readonly why: string | null } {
  const { kinds } = facts
  const text = (why: string | null) => ({ type: 'text', why }) as const
  const example = (kind: CellKind) => kinds.get(kind)?.cell.replace(/\s+/g, ' ') ?? ''
  if (kinds.size === 0) return text('no values')
  const day = dayType(facts)
  if (day) return { type: day, why: null }
  if (isText) return text(null)
  if (hasOnly(facts, 'boolean')) return { type: 'boolean', why: null }
  if (kinds.has('boolean')) return text(null)
  if (kinds.has('long')) return text(`more than 15 digits: ${example('long')}`)
  if (kinds.has('zero')) return text(`zeros at the start: ${example('zero')}`)
  const number = numberType(facts)
  if (number === null) return text(whyText(facts))
  return isCodeName(name) ? text('codes, by the name of the column') : { type: number, why: null }
}

function dayType(facts: ColumnFacts): CellType | null {
  // One date with points at least must show that the day is first.
  const isSure = facts.kinds.has('day') || facts.kinds.has('daymoment')
  if (hasOnly(facts, 'date') || (isSure && hasOnly(facts, 'day', 'dot'))) return 'date'
  if (hasOnly(facts, 'instant')) return 'instant'
  const isMoment =
    hasOnly(facts, 'date', 'moment') ||
    (isSure && hasOnly(facts, 'day', 'dot', 'daymoment', 'dotmoment'))
  return isMoment ? 'timestamp' : null
}

function numberType(facts: ColumnFacts): CellType | null {
  if (hasOnly(facts, 'integer')) return 'integer'
  // With `1,234` alone, the comma may separate thousands.
  const isExact =
    hasOnly(facts, 'integer', 'decimal') ||
    (hasOnly(facts, 'integer', 'comma', 'group') && facts.kinds.has('comma'))
  const decimal = isExact ? decimalType(facts) : null
  if (decimal) return decimal
  const isDouble = isExact || hasOnly(facts, 'integer', 'decimal', 'float')
  return isDouble && facts.isExactDouble ? 'double' : null
}

/** What keeps a column of numbers or dates from being one. */
function whyText(facts: ColumnFacts): string | null {
  if (hasOnly(facts, 'dot', 'dotmoment')) return 'dates, but is the day or the month first?'
  if (hasOnly(facts, 'integer', 'group')) return 'does the comma separate thousands?'
  if (hasOnly(facts, 'integer', 'decimal', 'comma', 'group', 'float')) {
    const isMixed = facts.kinds.has('comma') || facts.kinds.has('group')
    return isMixed ? 'points and commas' : 'numbers that no type holds exactly'
  }
  const odd = facts.kinds.get('text')
  const values = [...facts.kinds.values()].reduce((sum, { count }) => sum + count, 0)
  if (!odd || odd.count * 2 > values) return null
  const more = odd.count > 1 ? ` and ${odd.count - 1} more` : ''
  return `because of ${shownText(odd.cell)} in line ${odd.line}${more}`
}

function hasOnly({ kinds }: ColumnFacts, ...wanted: readonly CellKind[]): boolean {
  return [...kinds.keys()].every((kind) => wanted.includes(kind))
}

function exactly(name: string, type: StatedType, facts: ColumnFacts): CellType {
  const exact = type === 'decimal' ? decimalType(facts) : type
  if (exact) return exact
  throw new TableError([`error: no decimal holds all values of ${quoted(name)} exactly`])
}
