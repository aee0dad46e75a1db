import { words } from '../page-words.js'

const digitsMax = 6
const { lang } = document.documentElement
const compact = new Intl.NumberFormat(lang, { notation: 'compact', maximumSignificantDigits: 4 })

/** A number for a chart: exact if it is short, otherwise in thousands, millions and so on. */
export function shortNumber(exact: string): string {
  return exact.length <= digitsMax ? words.digits(exact) : compactNumber(Number(exact))
}

/** A number as `1.5M`. */
export function compactNumber(value: number): string {
  return compact.format(value)
}
