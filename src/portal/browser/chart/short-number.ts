import { words } from '../page-words.js'

const digitsMax = 6
const { lang } = document.documentElement
const compact = new Intl.NumberFormat(lang, { notation: 'compact', maximumSignificantDigits: 4 })

/** A number times `factor`: exact if it is short, else in thousands, millions and so on. */
export function shortNumber(exact: string, factor = 1): string {
  const isShort = factor === 1 && exact.length <= digitsMax
  return isShort ? words.digits(exact) : compactNumber(Number(exact) * factor)
}

/** A number as `1.5M`. */
export function compactNumber(value: number): string {
  return compact.format(value)
}
