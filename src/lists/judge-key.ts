import type { ShownType } from '../columns/column-types.js'
import { keyChecks } from '../columns/tax-number.js'
import type { KeyCheck } from '../columns/tax-number.js'
import { parseDate } from '../columns/values.js'

/** A cell that holds a key, or none that could be one. */
export type JudgedKey =
  | {
      readonly kind: 'key'
      /** The same for every way to write the key. */
      readonly key: string
      /** The key with the zero that its cell has lost; null if it has lost none. */
      readonly restored: string | null
    }
  | {
      readonly kind: 'malformed'
      /** What it is with the zero that a spreadsheet may have dropped; null if that is no key. */
      readonly withZero: string | null
    }

/** Judges a cell of a list. */
export type JudgeCell = (cell: string | null | undefined) => JudgedKey

export interface KeyColumn {
  readonly type: ShownType
  readonly check?: KeyCheck
}

const keyLettersMax = 1000
// eslint-disable-next-line no-control-regex
const noKey = /[\0-\x1f\x7f\p{Cs}]/u
const decimal = /^([+-]?)(\d+)(?:\.(\d*))?$/

/** What people and programs add to tax numbers: 7 708 004 767, '7708004767, ="7708004767". */
const marks = /[\s'’"=\p{Cf}]/gu
/** Programs that take a tax number for an amount write 7708004767.0 or 7708004767,00. */
const asAmount = /^(\d+)[.,]0+$/

/** What values of these types look like. */
const forms: Partial<Readonly<Record<ShownType, (text: string) => boolean>>> = {
  string: () => true,
  integer: (text) => decimal.test(text),
  number: (text) => decimal.test(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && parseDate(text) !== undefined,
}

/** The types of columns that lists can be looked up by. */
export const keyTypes: readonly string[] = Object.keys(forms)

/** Judges cells of a list by the type of the dataset's column and by its check digits. */
export function keyJudge({ type, check }: KeyColumn, addZeros: boolean): JudgeCell {
  const isRight = check === undefined ? () => true : keyChecks[check]
  const hasForm = forms[type] ?? (() => false)
  // A column of numbers has no zeros at the start.
  const isNumber = type === 'integer' || type === 'number'
  return (cell) => {
    const trimmed = (cell ?? '').trim()
    const text = check === undefined ? trimmed : trimmed.replace(marks, '').replace(asAmount, '$1')
    const isKey = text !== '' && text.length <= keyLettersMax && !noKey.test(text) && hasForm(text)
    if (isKey && isRight(text)) return { kind: 'key', key: plainKey(type, text), restored: null }
    const withZero = isKey && isRight(`0${text}`) ? `0${text}` : null
    if (withZero === null || !(addZeros || isNumber)) return { kind: 'malformed', withZero }
    const restored = isNumber ? null : withZero
    return { kind: 'key', key: plainKey(type, withZero), restored }
  }
}

/** A key as it is compared: numbers without zeros at their ends. */
export function plainKey(type: ShownType, text: string): string {
  const [, sign, digits, fraction = ''] = (type === 'string' ? null : decimal.exec(text)) ?? []
  if (digits === undefined) return text
  const whole = digits.replace(/^0+(?=\d)/, '')
  const rest = fraction.replace(/0+$/, '')
  const plain = rest === '' ? whole : `${whole}.${rest}`
  return sign === '-' && plain !== '0' ? `-${plain}` : plain
}
