import { quoted } from '../../text.js'
import { kindOf } from './cell-kinds.js'
import type { CellKind } from './cell-kinds.js'
import { isCodeName } from './code-names.js'
import { decimalType, fits, readNumber } from './column-types.js'
import type { CellType, StatedType } from './column-types.js'
import { TableError, shownText } from './table.js'

/** A column with its type. */
export type TypedColumn = ReturnType<ColumnProfile['typed']>

const [samplesMax, sampleLettersMax] = [3, 30] as const
const days: readonly CellKind[] = ['date', 'instant', 'day', 'dot']

/** Learns from every value of a column which type holds all of them exactly. */
export class ColumnProfile {
  readonly #name: string
  readonly #stated: StatedType | null
  /** By kind: how many, and the first of them. */
  readonly #seen = new Map<CellKind, { count: number; cell: string; line: number }>()
  /** The first different values. */
  readonly #samples = new Set<string>()
  #whole = 0
  #scale = 0
  /** Of the numbers with a point: one with the fewest decimals, and the longest that ends in 0. */
  #shortest: Decimal | null = null
  #padded: Decimal | null = null
  /** Every number with a fraction or an exponent is exact as a double. */
  #isExactDouble = true
  #hasTime = false
  /** The format marks a value as text. */
  #isText = false
  /** The line of the first `\\N`. */
  #dumped: number | null = null
  readonly #isFirst: boolean
  readonly #at: string

  /** `isFirst` = it leads the table; `at` = what its lines are called. */
  constructor(name: string, stated: StatedType | null, isFirst: boolean, at: string) {
    this.#name = name
    this.#stated = stated
    this.#isFirst = isFirst
    this.#at = at
  }

  /** Takes a value; says what is wrong if it does not fit the stated type. */
  add(cell: string, line: number, isText = false): string | null {
    this.#isText ||= isText
    if (this.#samples.size < samplesMax) this.#samples.add(sampleOf(cell))
    const text = withoutSpaces(cell)
    const kind = kindOf(text)
    if (text === '\\N') this.#dumped ??= line
    const seen = this.#seen.get(kind)
    if (seen) seen.count += 1
    else this.#seen.set(kind, { count: 1, line, cell })
    if (days.includes(kind)) this.#hasTime ||= text.length > 10
    else if (kind !== 'text' && kind !== 'boolean') this.#measure(text, line)
    if (this.#stated === null || fits(text, kind, this.#stated)) return null
    return `${quoted(this.#name)} is not ${this.#stated.split('(')[0]}: ${shownText(cell)}`
  }

  #measure(text: string, line: number): void {
    const { number, whole, scale } = readNumber(text)
    this.#whole = Math.max(this.#whole, whole)
    this.#scale = Math.max(this.#scale, scale)
    if (scale > 0) {
      if (scale < (this.#shortest?.scale ?? Infinity)) this.#shortest = { scale, text, line }
      const isPadded = scale > Math.max(1, this.#padded?.scale ?? 1) && number.endsWith('0')
      if (isPadded) this.#padded = { scale, text, line }
    }
    this.#isExactDouble &&= !/[.eE]/.test(number) || isExactDouble(number)
  }

  /** The column of so many rows. */
  typed(rows: number) {
    const values = [...this.#seen.values()].reduce((sum, { count }) => sum + count, 0)
    const [type, why] = this.#stated ? [this.#exact(), null] : this.#decide(values, this.#isText)
    return { name: this.#name, type, why, samples: [...this.#samples], emptyRows: rows - values }
  }

  /** What has to be confirmed if this line is the only one with a text: it may have names. */
  doubtOf(line: number): string | null {
    const odd = this.#seen.get('text')
    const type = odd?.count === 1 ? this.typeAbove(line) : null
    if (!odd || type === null) return null
    return (
      `${this.#at} ${line} may have names or units, not values: without ${shownText(odd.cell)}, ` +
      `${quoted(this.#name)} would be ${type}. Use --skip-lines ${line - 1} if the names are ` +
      `there, or --type ${this.#name}=text if it is a value.`
    )
  }

  /** What has to be confirmed if a value is how MySQL and PostgreSQL write none. */
  dumpDoubt(): string | null {
    if (this.#dumped === null || this.#stated !== null) return null
    const at = `${this.#at} ${this.#dumped} has \\N in ${quoted(this.#name)}`
    return (
      `${at}: a dump of MySQL or PostgreSQL means an empty value, and escapes others. ` +
      `Export the table as CSV, or use --type ${this.#name}=text if it is a text.`
    )
  }

  /** The type that the first text, if it is in this line, keeps it from; null if none. */
  typeAbove(line: number): CellType | null {
    const odd = this.#seen.get('text')
    if (this.#stated || odd?.line !== line) return null
    this.#seen.delete('text')
    const [type] = this.#decide(this.#seen.size, false)
    this.#seen.set('text', odd)
    return type === 'text' ? null : type
  }

  /** Whether the value in this line is the only whole number, among texts. */
  isOnlyInteger(line: number): boolean {
    const whole = this.#seen.get('integer')
    return whole?.count === 1 && whole.line === line && this.#seen.has('text')
  }

  #exact(): CellType {
    const exact = this.#stated === 'decimal' ? decimalType(this.#whole, this.#scale) : this.#stated
    if (exact) return exact
    throw new TableError(`error: no decimal holds all values of ${quoted(this.#name)} exactly`)
  }

  /** The type, and why it is text or what it does not keep. */
  #decide(values: number, isText: boolean): readonly [CellType, string | null] {
    const text = (why: string | null) => ['text', why] as const
    const { day, boolean, long, zero, comma } = Object.fromEntries(this.#seen)
    if (values === 0) return text('no values')
    if (this.#only('instant')) return ['instant', null]
    // Of dates with points, one at least must show that the day is first.
    const isDay = this.#only('date') || (day && this.#only('day', 'dot'))
    if (isDay) return [this.#hasTime ? 'timestamp' : 'date', null]
    if (isText) return text(this.#oddText(values))
    if (boolean) return [this.#only('boolean') ? 'boolean' : 'text', null]
    if (long) return text(`more than 15 digits: ${sampleOf(long.cell)}`)
    if (zero) return text(`zeros at the start: ${sampleOf(zero.cell)}`)
    // With `1,234` alone, the comma may separate thousands.
    const isComma = comma && this.#only('integer', 'comma', 'group')
    const isExact = isComma || this.#only('integer', 'decimal')
    const decimal = isExact ? decimalType(this.#whole, this.#scale) : null
    const isDouble = this.#isExactDouble && (isExact || this.#only('integer', 'decimal', 'float'))
    const number = this.#only('integer') ? 'integer' : (decimal ?? (isDouble ? 'double' : null))
    if (!number) return text(this.#why(values))
    if (isCodeName(this.#name, number !== 'integer')) {
      return text('codes, by the name of the column')
    }
    const zeros = this.#unevenZeros()
    if (zeros === null) return [number, null]
    if (this.#isFirst) return text(`codes? ${zeros}`)
    return [number, `${zeros}: zeros at the end are not kept; if these are codes, set text`]
  }

  /** Two texts of which one has more decimals and ends in 0: as numbers, 10.1 is 10.10. */
  #unevenZeros(): string | null {
    const [short, long] = [this.#shortest, this.#padded]
    if (!short || !long || short.scale >= long.scale) return null
    const [first, last] = [short, long].map(({ text, line }) => `${text} in ${this.#at} ${line}`)
    return `${first}, ${last}`
  }

  /** What keeps a column of numbers or dates from being one. */
  #why(values: number): string | null {
    if (this.#only('dot')) return 'dates, but is the day or the month first?'
    if (this.#only('integer', 'group')) return 'does the comma separate thousands?'
    if (this.#only('integer', 'decimal', 'float')) return 'numbers that no type holds exactly'
    if (this.#only('integer', 'decimal', 'comma', 'group', 'float')) return 'points and commas'
    return this.#oddText(values)
  }

  /** The first of the few texts among values of other kinds. */
  #oddText(values: number): string | null {
    const odd = this.#seen.get('text') ?? this.#seen.get('spaced')
    if (!odd || odd.count * 2 > values) return null
    const more = odd.count > 1 ? ` and ${odd.count - 1} more` : ''
    return `because of ${shownText(odd.cell)} in ${this.#at} ${odd.line}${more}`
  }

  #only(...kinds: readonly CellKind[]): boolean {
    return [...this.#seen.keys()].every((kind) => kinds.includes(kind))
  }
}

/** Without spaces at both ends; a pattern would be slow where many are in the middle. */
function withoutSpaces(text: string): string {
  let [start, end] = [0, text.length]
  while (text[start] === ' ') start += 1
  while (end > start && text[end - 1] === ' ') end -= 1
  return text.slice(start, end)
}

interface Decimal {
  readonly scale: number
  readonly text: string
  readonly line: number
}

/** Whether the nearest double of a number has its digits, so that nothing is rounded. */
function isExactDouble(number: string): boolean {
  const digits = (text: string) => text.replace(/e.*$|\D/gi, '').replace(/^0+|0+$/g, '')
  return Number.isFinite(Number(number)) && digits(String(Number(number))) === digits(number)
}

function sampleOf(cell: string): string {
  const text = cell.slice(0, sampleLettersMax).replace(/\s+/g, ' ')
  return cell.length > sampleLettersMax ? `${text}…` : text
}
