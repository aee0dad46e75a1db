import { badRequest } from '../../errors.js'
import { didYouMean, quoted } from '../../text.js'
import type { CellKind } from './cell-kinds.js'

const plainTypes = ['text', 'integer', 'double', 'boolean', 'date', 'timestamp', 'instant'] as const

/** The type of a column that is written from texts, as `--type` takes it. */
export type CellType = (typeof plainTypes)[number] | `decimal(${number},${number})`

/** A type that the owner states; the values give `decimal` its width. */
export type StatedType = CellType | 'decimal'

/** The widest decimal of Parquet. */
const decimalWidthMax = 38
const wideScale = 18
const dayKinds: readonly CellKind[] = ['date', 'day', 'dot']

/**
 * Reads `column=TYPE` texts.
 * @throws bad_request
 */
export function readStatedTypes(texts: readonly string[]): ReadonlyMap<string, StatedType> {
  const entries = texts.map((text) => {
    const at = text.lastIndexOf('=')
    const written = text.slice(at + 1).toLowerCase()
    const type = readType(written.replaceAll(' ', ''))
    if (at > 0 && type !== null) return [text.slice(0, at), type] as const
    throw badRequest(
      `--type takes column=TYPE, got ${quoted(text)}. TYPE is one of ${plainTypes.join(', ')}, ` +
        'decimal or decimal(18,2).',
    )
  })
  return new Map(entries)
}

/** @throws bad_request for a stated type of a column that the file does not have */
export function requireKnown(stated: ReadonlyMap<string, unknown>, names: readonly string[]): void {
  const unknown = [...stated.keys()].find((name) => !names.includes(name))
  if (unknown === undefined) return
  const hint = didYouMean(unknown, names)
  throw badRequest(`--type names no column of the file: ${quoted(unknown)}.${hint}`)
}

function readType(text: string): StatedType | null {
  const plain = [...plainTypes, 'decimal' as const].find((type) => type === text)
  if (plain) return plain
  const [, width = 0, scale = 0] = /^decimal\((\d{1,2}),(\d{1,2})\)$/.exec(text)?.map(Number) ?? []
  const isOne = width >= 1 && width <= decimalWidthMax && scale <= width
  return isOne ? `decimal(${width},${scale})` : null
}

/** A number with a point, and the digits before and after it; zeros at its start do not count. */
export function readNumber(text: string) {
  const number = text.replace(/[ \u00a0\u202f]/g, '').replace(',', '.')
  const [, whole = '', fraction = ''] = /^-?0*(\d*)(?:\.(\d+))?/.exec(number) ?? []
  return { number, whole: whole.length, scale: fraction.length }
}

/** The decimal for numbers with at most these digits; null if none. */
export function decimalType(whole: number, scale: number): CellType | null {
  const width = Math.max(1, whole) + scale
  if (width > decimalWidthMax) return null
  return `decimal(${width <= wideScale ? wideScale : decimalWidthMax},${scale})`
}

/** Whether a text of a kind has an exact value of a stated type; of `double`, the nearest one. */
export function fits(text: string, kind: CellKind, type: StatedType): boolean {
  const [name = '', width = '', places] = type.split(/[(),]/)
  if (name === 'text') return true
  if (dayKinds.includes(kind)) {
    return name === 'timestamp' || (name === 'date' && text.length === 10)
  }
  if (kind === 'boolean' || kind === 'instant' || kind === 'text') return kind === name
  const { number, whole, scale } = readNumber(text)
  if (name === 'double') return Number.isFinite(Number(number))
  if (name === 'integer') {
    return /^-?\d{1,19}$/.test(number) && BigInt.asIntN(64, BigInt(number)) === BigInt(number)
  }
  if (name !== 'decimal' || /e/i.test(number)) return false
  if (places === undefined) return decimalType(whole, scale) !== null
  return scale <= Number(places) && whole <= Number(width) - Number(places)
}
