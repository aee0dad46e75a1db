/** One element of a header like `Accept`. */
export interface Preference {
  /** Lower case, without parameters. */
  readonly name: string
  /** 1 = preferred, 0 = refused. */
  readonly quality: number
}

/** Parses the preferences in `Accept` or `Accept-Encoding` (RFC 9110, 12.4.2). */
export function readPreferences(header: string): readonly Preference[] {
  return header.split(',').map(readPreference)
}

/** Whether the preferred language writes 1,5: its Excel separates cells of CSV by `;`. */
export function usesDecimalComma(header: string | undefined): boolean {
  const [best] = readPreferences(header ?? '')
    .filter(({ name, quality }) => /^[a-z]{2,3}(?:-[a-z]{2})?$/.test(name) && quality > 0)
    .sort((one, other) => other.quality - one.quality)
  const [language] = Intl.NumberFormat.supportedLocalesOf(best?.name ?? [])
  if (language === undefined) return false
  const parts = new Intl.NumberFormat(language).formatToParts(1.5)
  return parts.some(({ type, value }) => type === 'decimal' && value === ',')
}

function readPreference(text: string): Preference {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice(2))
  return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}
