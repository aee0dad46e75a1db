import { shareUnit } from '../../wording.js'
import { digitWriter } from '../writers.js'
import { unitScale } from './unit-scale.js'

/** Values of one unit, written in short for people: `3,45 трлн ₽` of `тыс. руб.`. */
export interface ShortValues {
  /** What one of the written values is; `%` of a share. */
  readonly unit: string
  /** A value, which may be rounded to three digits. */
  readonly write: (value: number) => string
  /** The same for the digits of a value: all of them if they are few. */
  readonly writeExact: (digits: string) => string
  /** All digits of a value with the unit that it is kept in, for pointing at a short one. */
  readonly exact: (digits: string) => string
}

const exactLettersMax = 6
const roubles = /^(?:RUB|руб\.)$/i

/** Returns a writer of values of this unit in a language. */
export function shortValues(locale: string, unit: string): ShortValues {
  const digits = digitWriter(locale)
  const exact = (text: string) => `${digits(text)} ${unit}`.trim()
  const signed = (text: string) => text.replace('-', '\u2212')
  if (shareUnit.test(unit)) {
    const percent = new Intl.NumberFormat(locale, {
      style: 'percent',
      maximumSignificantDigits: 3,
    })
    const write = (value: number) => signed(percent.format(value))
    return { unit: '%', write, writeExact: (text) => write(Number(text)), exact }
  }
  const scale = unitScale(unit)
  const compact = new Intl.NumberFormat(locale, {
    notation: 'compact',
    maximumSignificantDigits: 3,
  })
  const suffix = roubles.test(scale.unit) ? '\u00a0₽' : ''
  const write = (value: number) => signed(compact.format(value * scale.factor)) + suffix
  return {
    unit: scale.unit,
    write,
    exact,
    writeExact: (text) => {
      const isShort = scale.factor === 1 && text.length <= exactLettersMax
      return isShort ? digits(text) + suffix : write(Number(text))
    },
  }
}
