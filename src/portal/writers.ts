/** Returns a formatter for whole roubles: `3 900 ₽`. */
export function roubleWriter(locale: string): (roubles: number) => string {
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'RUB',
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 0,
  })
  return (roubles) => format.format(roubles)
}

/** Returns a formatter for the day of an ISO 8601 time, in UTC. */
export function dayWriter(locale: string): (time: string) => string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
  return (time) => format.format(new Date(time))
}

/** Returns a formatter for the day of an ISO 8601 time without its year, in UTC: `1 December`. */
export function dayOfYearWriter(locale: string): (time: string) => string {
  const format = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' })
  return (time) => format.format(new Date(time))
}

/** Returns a formatter for sizes of files: `12 kB`, `3.4 MB`. */
export function byteWriter(locale: string): (bytes: number) => string {
  const sizes = (['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const).map(
    (unit) => new Intl.NumberFormat(locale, { style: 'unit', unit, maximumSignificantDigits: 3 }),
  )
  return (bytes) => {
    const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), sizes.length - 1)
    return sizes[power]?.format(bytes / 1000 ** power) ?? ''
  }
}

/** Returns a formatter for a share from 0 to 1: `12.5%`. */
export function shareWriter(locale: string): (share: number) => string {
  const format = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  return (share) => format.format(share)
}

/** Returns a formatter for a month `YYYY-MM`: `Nov 2026`. */
export function monthWriter(locale: string): (month: string) => string {
  const format = new Intl.DateTimeFormat(locale, {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  })
  return (month) => format.format(new Date(`${month}-01T00:00:00Z`))
}

/**
 * Returns a formatter that adds thousands separators to numbers of five digits or more; four digits
 * are often a year. It never parses the text as a number, so every digit is kept.
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
    return fraction === undefined ? grouped : `${grouped}${decimal}${fraction}`
  }
}
