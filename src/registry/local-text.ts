import type { Language } from '../config.js'
import { plainText } from '../plain-text.js'

/** A text for people as the registry has it: in English, or in both languages. */
export type LocalText = string | { readonly en: string; readonly ru: string }

/** The text that the API serves. */
export function inEnglish(text: LocalText): string {
  return plainText(typeof text === 'string' ? text : text.en)
}

/** The same for a text that may be missing. */
export function inEnglishOrNull(text: LocalText | null | undefined): string | null {
  return text === null || text === undefined ? null : inEnglish(text)
}

/** The text of pages and letters: the English one where there is no other. */
export function textIn(language: Language, text: LocalText): string {
  return (language === 'ru' ? inRussian(text) : null) ?? inEnglish(text)
}

/** The text for Russian pages and letters; null without one. */
export function inRussian(text: LocalText | null | undefined): string | null {
  return text === null || text === undefined || typeof text === 'string' ? null : plainText(text.ru)
}
