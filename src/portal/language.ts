import type { Language } from '../config.js'

/** Every language of the portal with its own name. */
export const languages: readonly (readonly [Language, string])[] = [
  ['en', 'English'],
  ['ru', 'Русский'],
]

/** The language chosen with `?lang=`, otherwise the one that the browser prefers. */
export function languageOf(chosen: unknown, acceptLanguage: string | undefined): Language {
  return isLanguage(chosen) ? chosen : (preferredLanguage(acceptLanguage ?? '') ?? 'en')
}

/** Whether the portal has this language. */
export function isLanguage(value: unknown): value is Language {
  return languages.some(([code]) => code === value)
}

/** The supported language with the highest weight in `ru-RU,ru;q=0.9,en;q=0.8`. */
function preferredLanguage(header: string): Language | undefined {
  const ranges = header.split(',').map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((part) => part.startsWith('q='))?.slice('q='.length)
    return { language: tag.split('-', 1)[0], weight: Number(quality ?? 1) }
  })
  return ranges
    .filter(({ weight }) => weight > 0)
    .sort((left, right) => right.weight - left.weight)
    .map(({ language }) => language)
    .find(isLanguage)
}
