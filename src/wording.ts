const titleLengthMax = 60

/** Units whose values are written in percent. */
export const shareUnit = /^(?:share|fraction|доля)$/i

/** Writes whole numbers with the language's separator of thousands. */
export function numberWriter(locale: string): (value: number) => string {
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  return (value) => format.format(value)
}

/** Writes ms since the epoch as date and time, in UTC. */
export function dateWriter(locale: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
  return (ms) => `${format.format(ms)}, ${new Date(ms).toISOString().slice(11, 16)} UTC`
}

/** Forms of a word by plural category; `other` is used for missing ones. */
type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string }

/** Chooses the form of a word for a number. */
export function pluralChooser(locale: string): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(locale)
  return (count, forms) => forms[rules.select(count)] ?? forms.other
}

/** A title for a subject line: one line, cut if it is long. */
export function shortTitle(title: string): string {
  const characters = [...title.replaceAll(/\s+/g, ' ').trim()]
  if (characters.length <= titleLengthMax) return characters.join('')
  return `${characters.slice(0, titleLengthMax - 1).join('')}…`
}
