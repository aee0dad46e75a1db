/** One element of a header like `Accept`. */
export interface Preference {
  /** In lower case, without parameters. */
  readonly name: string
  /** 1 = liked best, 0 = not taken. */
  readonly quality: number
}

/** What a client takes, as `Accept` and `Accept-Encoding` list it (RFC 9110, 12.4.2). */
export function readPreferences(header: string): readonly Preference[] {
  return header.split(',').map(readPreference)
}

function readPreference(text: string): Preference {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice(2))
  return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}
