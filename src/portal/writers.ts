/** Writes whole roubles as the language does: `3 900 ₽`. */
export function roubleWriter(locale: string): (roubles: number) => string {
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'RUB',
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 0,
  })
  return (roubles) => format.format(roubles)
}

/** Writes the day of an ISO 8601 time, in UTC. */
export function dayWriter(locale: string): (time: string) => string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
  return (time) => format.format(new Date(time))
}

/** Writes a month given as `YYYY-MM`: `Nov 2026`. */
export function monthWriter(locale: string): (month: string) => string {
  const format = new Intl.DateTimeFormat(locale, {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  })
  return (month) => format.format(new Date(`${month}-01T00:00:00Z`))
}

/**
 * Sets the thousands of a number's text apart as the language does, from five digits on: four are
 * often a year. The text is never read as a number, so every digit stays.
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
