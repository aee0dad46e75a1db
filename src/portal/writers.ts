import { numberWriter } from '../wording.js'

/** Returns the formatters of a language; their times are ISO 8601, and read in UTC. */
export function writersOf(locale: string) {
  return {
    number: numberWriter(locale),
    /** Whole roubles: `3 900 ₽`. */
    roubles: amountWriter(locale, {
      style: 'currency',
      currency: 'RUB',
      currencyDisplay: 'narrowSymbol',
      maximumFractionDigits: 0,
    }),
    day: dayWriter(locale),
    /** The day of a time without its year: `1 December`. */
    dayOfYear: timeWriter(locale, { day: 'numeric', month: 'long' }),
    /** A month `YYYY-MM`: `Nov 2026`. */
    monthName: timeWriter(locale, { month: 'short', year: 'numeric' }),
    digits: digitWriter(locale),
    /** A share from 0 to 1: `12.5%`. */
    share: amountWriter(locale, { style: 'percent', maximumFractionDigits: 1 }),
    /** A change as a share, with its sign: `+12.5%`. */
    signedShare: amountWriter(locale, {
      style: 'percent',
      maximumFractionDigits: 1,
      signDisplay: 'exceptZero',
    }),
    bytes: byteWriter(locale),
  }
}

/** What a heading says of a column: `Revenue · 2110`, or its name alone. */
export function columnTitle(column: {
  readonly name: string
  /** None is null on the server, and empty in the browser. */
  readonly label: string | null
}): string {
  const { name, label } = column
  return label === null || label === '' || label === name ? name : `${label} · ${name}`
}

/** Returns a formatter for the day of an ISO 8601 time, in UTC. */
function dayWriter(locale: string): (time: string) => string {
  return timeWriter(locale, { dateStyle: 'long' })
}

function timeWriter(locale: string, options: Intl.DateTimeFormatOptions): (time: string) => string {
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  return (time) => format.format(new Date(time))
}

function amountWriter(
  locale: string,
  options: Intl.NumberFormatOptions,
): (amount: number) => string {
  const format = new Intl.NumberFormat(locale, options)
  return (amount) => format.format(amount).replace('-', '\u2212')
}

/** Returns a formatter for sizes of files: `12 kB`, `3.4 MB`. */
function byteWriter(locale: string): (bytes: number) => string {
  const sizes = (['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const).map(
    (unit) => new Intl.NumberFormat(locale, { style: 'unit', unit, maximumSignificantDigits: 3 }),
  )
  return (bytes) => {
    const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), sizes.length - 1)
    return sizes[power]?.format(bytes / 1000 ** power) ?? ''
  }
}

/** Of a floating-point number. */
export const digitsMax = 15

/** The digits that a floating-point number surely knows, without an exponent. */
export function floatDigits(text: string): string {
  if (!/e/i.test(text) && text.replace(/\D/g, '').length <= digitsMax) return text
  const options = { maximumSignificantDigits: digitsMax, useGrouping: false } as const
  return new Intl.NumberFormat('en', options).format(Number(text))
}

const roundedMax = 6

/** The first digits of a number that was computed, and all before the point. */
export function roundedDigits(text: string): string {
  const value = Number(text)
  const isLong = Math.abs(value) >= 10 ** (roundedMax - 1)
  return floatDigits(String(isLong ? Math.round(value) : Number(value.toPrecision(roundedMax))))
}

/**
 * Returns a formatter that adds thousands separators to numbers of five digits or more; four digits
 * are often a year. A minus is U+2212. It never parses the text as a number, so every digit is
 * kept.
 */
export function digitWriter(locale: string): (digits: string) => string {
  const parts = new Intl.NumberFormat(locale, { useGrouping: 'always' }).formatToParts(1000.5)
  const mark = (type: string) => parts.find((part) => part.type === type)?.value ?? ''
  const group = mark('group')
  const decimal = mark('decimal')
  return (digits) => {
    const [, whole = '', fraction] = /^(-?\d+)(?:\.(\d+))?$/.exec(digits) ?? []
    if (whole === '') return digits
    const isLong = whole.replace('-', '').length > 4
    const grouped = isLong ? whole.replace(/\B(?=(?:\d{3})+$)/g, group) : whole
    const signed = grouped.replace('-', '\u2212')
    return fraction === undefined ? signed : `${signed}${decimal}${fraction}`
  }
}
