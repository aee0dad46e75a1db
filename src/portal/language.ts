import type { Language } from '../config.js'

/** The language that a visitor has chosen (`?lang=`), else the one their browser likes best. */
export function languageOf(chosen: unknown, acceptLanguage: string | undefined): Language {
  return isLanguage(chosen) ? chosen : (liked(acceptLanguage ?? '') ?? 'en')
}

/** True for a language that the pages are written in. */
export function isLanguage(value: unknown): value is Language {
  return value === 'en' || value === 'ru'
}

/** Of `ru-RU,ru;q=0.9,en;q=0.8`, the first of ours by weight. */
function liked(header: string): Language | undefined {
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
