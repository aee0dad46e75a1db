import { badRequest } from '../../errors.js'
import { quoted } from '../../text.js'
import { cellKind, trimmed } from './cell-kind.js'

/** The type of a column that is written from texts. */
export type CellType =
  | { readonly kind: 'decimal'; readonly width: number; readonly scale: number }
  | {
      readonly kind: 'text' | 'integer' | 'double' | 'boolean' | 'date' | 'timestamp' | 'instant'
    }

/** The words of `--type`. */
const kinds: readonly CellType['kind'][] = [
  'text',
  'integer',
  'decimal',
  'double',
  'boolean',
  'date',
  'timestamp',
  'instant',
]

/** The widest decimal of Parquet. */
const decimalWidthMax = 38
const wideScale = 18
const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
/** Spaces that separate thousands. */
export const thousandSpaces = ' \u00a0\u202f'
const grouped = /^-?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?$/

/** A type as `--type` takes it. */
export function cellTypeText(type: CellType): string {
  return type.kind === 'decimal' ? `decimal(${type.width},${type.scale})` : type.kind
}

/** The decimal for numbers with this many digits before and after the point; null if none. */
export function decimalType(whole: number, scale: number): CellType | null {
  const width = Math.max(1, whole) + scale
  if (width > decimalWidthMax) return null
  return { kind: 'decimal', width: width <= wideScale ? wideScale : decimalWidthMax, scale }
}

/** `--type`: the type of a column; a decimal without a width gets it from the values. */
export interface StatedType {
  readonly kind: CellType['kind']
  readonly width: number | null
  readonly scale: number | null
}

/**
 * Reads `column=TYPE` texts.
 * @throws bad_request
 */
export function readStatedTypes(texts: readonly string[]): ReadonlyMap<string, StatedType> {
  const stated = new Map<string, StatedType>()
  for (const text of texts) {
    const at = text.lastIndexOf('=')
    const type = readType(text.slice(at + 1).trim())
    if (at < 1 || type === null) {
      throw badRequest(
        `--type takes column=TYPE, got ${quoted(text)}. TYPE is one of ${kinds.join(', ')} ` +
          'or decimal(18,2).',
      )
    }
    stated.set(text.slice(0, at), type)
  }
  return stated
}

function readType(text: string): StatedType | null {
  const lower = text.toLowerCase()
  const kind = kinds.find((each) => each === lower)
  if (kind !== undefined) return { kind, width: null, scale: null }
  const [, digits, places] = /^decimal\((\d{1,2}), ?(\d{1,2})\)$/.exec(lower) ?? []
  const [width, scale] = [Number(digits), Number(places)]
  if (!(width >= 1 && width <= decimalWidthMax && scale <= width)) return null
  return { kind: 'decimal', width, scale }
}

/** Whether a text has an exact value of the type; of `double`, the nearest one. */
export function fits(cell: string, { kind, width, scale }: StatedType): boolean {
  switch (kind) {
    case 'text':
      return true
    case 'integer':
      return isInt64(plainNumber(cell))
    case 'decimal':
      return fitsDecimal(plainNumber(cell), width, scale)
    case 'double':
      return isFinite(plainNumber(cell))
    case 'boolean':
      return cellKind(cell) === 'boolean'
    case 'date':
      return ['date', 'day', 'dot'].includes(cellKind(cell))
    case 'timestamp':
      return /^(date|day|dot|moment|daymoment|dotmoment)$/.test(cellKind(cell))
    case 'instant':
      return cellKind(cell) === 'instant'
  }
}

/** A number without the spaces of its thousands, and with a point; null = not a number. */
function plainNumber(cell: string): string | null {
  const text = trimmed(cell)
  const joined = grouped.test(text) ? text.replace(/[ \u00a0\u202f]/g, '') : text
  const plain = joined.replace(',', '.')
  return /^-?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/.test(plain) ? plain : null
}

function isInt64(text: string | null): boolean {
  if (text === null || !/^-?\d{1,19}$/.test(text)) return false
  const value = BigInt(text)
  return value >= int64.min && value <= int64.max
}

function fitsDecimal(text: string | null, width: number | null, scale: number | null): boolean {
  if (text === null || /[eE]/.test(text)) return false
  const shape = decimalShape(text)
  const most = width ?? decimalWidthMax
  return shape.scale <= (scale ?? most) && shape.whole <= most - (scale ?? shape.scale)
}

function isFinite(text: string | null): boolean {
  return text !== null && Number.isFinite(Number(text))
}

/** The digits before and after the point or comma; zeros at the start do not count. */
export function decimalShape(text: string): { readonly whole: number; readonly scale: number } {
  const [, before = '', after = ''] = /^-?(\d*)(?:[.,](\d+))?$/.exec(text) ?? []
  return { whole: before.replace(/^0+/, '').length, scale: after.length }
}

/** Whether a double holds the exact value of a number, so that its shortest text is the number. */
export function isExactDouble(text: string): boolean {
  const value = Number(text.replace(',', '.'))
  return Number.isFinite(value) && digitsOf(String(value)) === digitsOf(text)
}

function digitsOf(text: string): string {
  const [mantissa = ''] = text.toLowerCase().split('e')
  return mantissa.replace(/\D/g, '').replace(/^0+|0+$/g, '')
}
