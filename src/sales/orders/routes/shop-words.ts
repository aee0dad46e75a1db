import type { Language } from '../../../config.js'
import { englishShopWords } from './shop-words-en.js'
import type { ShopWords } from './shop-words-en.js'
import { russianShopWords } from './shop-words-ru.js'

const words: Readonly<Record<Language, ShopWords>> = { en: englishShopWords, ru: russianShopWords }

/** The texts of the shop's pages in a language. */
export function shopWordsOf(language: Language): ShopWords {
  return words[language]
}
