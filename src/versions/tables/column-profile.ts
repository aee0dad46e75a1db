import { quoted } from '../../text.js'
import { cellKind, trimmed } from './cell-kind.js'
import type { CellKind } from './cell-kind.js'
import { decimalShape, decimalType, fits, isExactDouble } from './cell-type.js'
import type { CellType, StatedType } from './cell-type.js'
import { isCodeName } from './code-column.js'
import { TableError } from './table.js'
import type { BadLines } from './table.js'

/** A column as it will be written. */
export interface TypedColumn {
  readonly name: string
  readonly type: CellType
  /** Set by the owner. */
  readonly isStated: boolean
  /** Why it is text, or null. */
  readonly note: string | null
  /** The first different values. */
  readonly samples: readonly string[]
  readonly emptyRows: number
}

const samplesMax = 3
const sampleLettersMax = 30
/** Text that many times is not a number with a few odd values. */
const textsMax = 1000

interface Seen {
  count: number
  readonly cell: string
  readonly line: number
}

/** Learns from every value of a column which type holds all of them exactly. */
export class ColumnProfile {
  readonly #name: string
  readonly #stated: StatedType | null
  readonly #seen = new Map<CellKind, Seen>()
  readonly #samples = new Set<string>()
  #values = 0
  #whole = 0
  #scale = 0
  /** Every number with a fraction or an exponent is exact as a double. */
  #isExactDouble = true

  constructor(name: string, stated: StatedType | null) {
    this.#name = name
    this.#stated = stated
  }

  /** A value that is not empty. */
  add(cell: string, line: number, bad: BadLines): void {
    this.#values += 1
    if (this.#samples.size < samplesMax) this.#samples.add(cell)
    if (this.#stated && !fits(cell, this.#stated)) {
      bad.add(line, `${quoted(this.#name)} is not ${this.#stated.kind}: ${shown(cell)}`)
      return
    }
    if (this.#stated ? this.#stated.kind !== 'decimal' : this.#isText()) return
    const kind = cellKind(cell)
    const seen = this.#seen.get(kind)
    if (seen) seen.count += 1
    else this.#seen.set(kind, { count: 1, cell, line })
    if (kind !== 'text' || this.#stated) this.#measure(trimmed(cell))
  }

  /** The column with its type; `isText` = the format marks values as text. */
  column(rows: number, isText: boolean): TypedColumn {
    const [type, note] = this.#stated ? [this.#statedType(this.#stated), null] : this.#guess(isText)
    return {
      name: this.#name,
      type,
      isStated: this.#stated !== null,
      note,
      samples: [...this.#samples].map(sampleText),
      emptyRows: rows - this.#values,
    }
  }

  #isText(): boolean {
    return (this.#seen.get('text')?.count ?? 0) >= textsMax
  }

  #measure(text: string): void {
    const { whole, scale } = decimalShape(text.replace(/[ \u00a0\u202f]/g, ''))
    if (whole > this.#whole) this.#whole = whole
    if (scale > this.#scale) this.#scale = scale
    if (this.#isExactDouble && /[.,eE]/.test(text)) this.#isExactDouble = isExactDouble(text)
  }

  #statedType({ kind, width, scale }: StatedType): CellType {
    if (kind !== 'decimal') return { kind }
    if (width !== null && scale !== null) return { kind, width, scale }
    const exact = decimalType(this.#whole, this.#scale)
    if (exact) return exact
    throw new TableError([`error: no decimal holds all values of ${quoted(this.#name)} exactly`])
  }

  #guess(isText: boolean): readonly [CellType, string | null] {
    const text = { kind: 'text' } as const
    if (this.#values === 0) return [text, 'no values']
    const temporal = this.#temporal()
    if (temporal) return [temporal, null]
    if (isText) return [text, null]
    if (this.#has('boolean')) {
      return this.#only('boolean') ? [{ kind: 'boolean' }, null] : [text, null]
    }
    if (this.#has('long')) return [text, `more than 15 digits: ${this.#example('long')}`]
    if (this.#has('zero')) return [text, `zeros at the start: ${this.#example('zero')}`]
    const number = this.#number()
    if (number && isCodeName(this.#name)) return [text, 'codes, by the name of the column']
    return number ? [number, null] : [text, this.#why()]
  }

  #temporal(): CellType | null {
    if (this.#only('date') || this.#days('day', 'dot')) return { kind: 'date' }
    if (this.#only('instant')) return { kind: 'instant' }
    const isMoment = this.#only('date', 'moment')
    return isMoment || this.#days('day', 'dot', 'daymoment', 'dotmoment')
      ? { kind: 'timestamp' }
      : null
  }

  /** Dates with points, of which one at least shows that the day is first. */
  #days(...kinds: readonly CellKind[]): boolean {
    return this.#only(...kinds) && (this.#has('day') || this.#has('daymoment'))
  }

  #number(): CellType | null {
    if (this.#only('integer')) return { kind: 'integer' }
    const isPoint = this.#only('integer', 'decimal')
    // With `1,234` alone, the comma may separate thousands.
    const isComma = this.#only('integer', 'comma', 'group') && this.#has('comma')
    const decimal = isPoint || isComma ? decimalType(this.#whole, this.#scale) : null
    if (decimal) return decimal
    const isDouble = isPoint || isComma || this.#only('integer', 'decimal', 'float')
    return isDouble && this.#isExactDouble ? { kind: 'double' } : null
  }

  /** What keeps a column of numbers or dates from being one. */
  #why(): string | null {
    if (this.#only('dot', 'dotmoment')) return 'dates, but is the day or the month first?'
    if (this.#only('integer', 'group')) return 'does the comma separate thousands?'
    if (this.#only('integer', 'decimal', 'comma', 'group', 'float')) {
      const isMixed = this.#has('comma') || this.#has('group')
      return isMixed ? 'points and commas' : 'numbers that no type holds exactly'
    }
    const odd = this.#seen.get('text')
    if (!odd || odd.count * 2 > this.#values || this.#isText()) return null
    const more = odd.count > 1 ? ` and ${odd.count - 1} more` : ''
    return `because of ${shown(odd.cell)} in line ${odd.line}${more}`
  }

  #has(kind: CellKind): boolean {
    return this.#seen.has(kind)
  }

  #only(...kinds: readonly CellKind[]): boolean {
    return [...this.#seen.keys()].every((kind) => kinds.includes(kind))
  }

  #example(kind: CellKind): string {
    return sampleText(this.#seen.get(kind)?.cell ?? '')
  }
}

function shown(cell: string): string {
  return quoted(cell.length > sampleLettersMax ? `${cell.slice(0, sampleLettersMax)}…` : cell)
}

function sampleText(cell: string): string {
  const line = cell.replace(/\s+/g, ' ')
  return line.length > sampleLettersMax ? `${line.slice(0, sampleLettersMax)}…` : line
}
