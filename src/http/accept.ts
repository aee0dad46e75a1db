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

function readPreference(text: string): Preference {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice(2))
  return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}
