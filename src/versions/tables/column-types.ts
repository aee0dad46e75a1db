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

/** All values of a column. */
export interface ColumnFacts {
  /** By kind: how many, and the first of them. */
  readonly kinds: ReadonlyMap<CellKind, { count: number; line: number; cell: string }>
  /** The most digits before and after the point of its numbers. */
  readonly whole: number
  readonly scale: number
  /** Its numbers with a fraction or an exponent are exact as doubles. */
  readonly isExactDouble: boolean
  /** Some of its dates have a time. */
  readonly hasTime: boolean
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
const decimalWidthMax = 38
const wideScale = 18

/**
 * Reads `column=TYPE` texts.
 * @throws bad_request, also for a column that the file does not have
 */
export function readStatedTypes(
  texts: readonly string[],
  names: readonly string[],
): ReadonlyMap<string, StatedType> {
  const entries = texts.map((text) => {
    const [, name = '', written = ''] = /^(.+)=(.*)$/s.exec(text) ?? []
    const type = readType(written.toLowerCase().replaceAll(' ', ''))
    if (type === null) {
      throw badRequest(
        `--type takes column=TYPE, got ${quoted(text)}. TYPE is one of ${plainTypes.join(', ')}, ` +
          'decimal or decimal(18,2).',
      )
    }
    if (names.includes(name)) return [name, type] as const
    const hint = didYouMean(name, names)
    throw badRequest(`--type names no column of the file: ${quoted(name)}.${hint}`)
  })
  return new Map(entries)
}

function readType(text: string): StatedType | null {
  const plain = plainTypes.find((type) => type === text)
  if (plain ?? text === 'decimal') return plain ?? 'decimal'
  const [, width = 0, scale = 0] = /^decimal\((\d{1,2}),(\d{1,2})\)$/.exec(text)?.map(Number) ?? []
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
  let doubt: string | null = null
  const columns = facts.map((column, index) => {
    const name = names[index] ?? ''
    const filled = [...column.kinds.values()].reduce((sum, { count }) => sum + count, 0)
    const emptyRows = rows - filled
    const type = stated.get(name)
    if (type) return { name, type: exactly(name, type, column), why: null, emptyRows }
    const odd = column.kinds.get('text')
    if (odd?.count === 1 && odd.line === wordsLine) doubt ??= secondNames(name, column)
    return { name, ...decideType(name, column, texts.has(index)), emptyRows }
  })
  return { columns, doubts: doubt === null ? [] : [doubt] }
}

function exactly(name: string, type: StatedType, facts: ColumnFacts): CellType {
  const exact = type === 'decimal' ? decimalType(facts) : type
  if (exact) return exact
  throw new TableError(`error: no decimal holds all values of ${quoted(name)} exactly`)
}

/** The first row alone has a text: it may be of the header. */
function secondNames(name: string, facts: ColumnFacts): string | null {
  const { text: odd, ...others } = Object.fromEntries(facts.kinds)
  const kinds = new Map(Object.entries(others)) as ColumnFacts['kinds']
  const { type } = decideType(name, { ...facts, kinds }, false)
  if (!odd || type === 'text') return null
  return (
    `line ${odd.line} may have names or units, not values: without ${shownText(odd.cell)}, ` +
    `${quoted(name)} would be ${type}. Use --skip-lines ${odd.line - 1} if the names are there, ` +
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
  const like = (kind: CellKind) => kinds.get(kind)?.cell.replace(/\s+/g, ' ') ?? ''
  if (kinds.size === 0) return text('no values')
  const type = dayType(facts) ?? (isText ? null : (numberType(facts) ?? booleanType(facts)))
  if (isText && type === null) return text(null)
  if (kinds.has('boolean') && type === null) return text(null)
  if (kinds.has('long')) return text(`more than 15 digits: ${like('long')}`)
  if (kinds.has('zero')) return text(`zeros at the start: ${like('zero')}`)
  if (type === null) return text(whyText(facts))
  const isCode = isCodeName(name) && /^(integer|decimal|double)/.test(type)
  return isCode ? text('codes, by the name of the column') : { type, why: null }
}

function booleanType(facts: ColumnFacts): CellType | null {
  return hasOnly(facts, 'boolean') ? 'boolean' : null
}

function dayType(facts: ColumnFacts): CellType | null {
  if (hasOnly(facts, 'instant')) return 'instant'
  // Of dates with points, one at least must show that the day is first.
  const isDay = facts.kinds.has('day') && hasOnly(facts, 'day', 'dot')
  if (!isDay && !hasOnly(facts, 'date')) return null
  return facts.hasTime ? 'timestamp' : 'date'
}

function numberType(facts: ColumnFacts): CellType | null {
  if (hasOnly(facts, 'integer')) return 'integer'
  // With `1,234` alone, the comma may separate thousands.
  const isComma = facts.kinds.has('comma') && hasOnly(facts, 'integer', 'comma', 'group')
  const isExact = isComma || hasOnly(facts, 'integer', 'decimal')
  const decimal = isExact ? decimalType(facts) : null
  if (decimal) return decimal
  const isDouble = isExact || hasOnly(facts, 'integer', 'decimal', 'float')
  return isDouble && facts.isExactDouble ? 'double' : null
}

function decimalType({ whole, scale }: ColumnFacts): CellType | null {
  const width = Math.max(1, whole) + scale
  if (width > decimalWidthMax) return null
  return `decimal(${width <= wideScale ? wideScale : decimalWidthMax},${scale})`
}

/** What keeps a column of numbers or dates from being one. */
function whyText(facts: ColumnFacts): string | null {
  if (hasOnly(facts, 'dot')) return 'dates, but is the day or the month first?'
  if (hasOnly(facts, 'integer', 'group')) return 'does the comma separate thousands?'
  if (hasOnly(facts, 'integer', 'decimal', 'float')) return 'numbers that no type holds exactly'
  if (hasOnly(facts, 'integer', 'decimal', 'comma', 'group', 'float')) return 'points and commas'
  const values = [...facts.kinds.values()].reduce((sum, { count }) => sum + count, 0)
  const odd = facts.kinds.get('text') ?? facts.kinds.get('spaced')
  if (!odd || odd.count * 2 > values) return null
  const more = odd.count > 1 ? ` and ${odd.count - 1} more` : ''
  return `because of ${shownText(odd.cell)} in line ${odd.line}${more}`
}

function hasOnly({ kinds }: ColumnFacts, ...wanted: readonly CellKind[]): boolean {
  return [...kinds.keys()].every((kind) => wanted.includes(kind))
}
