import type { Language } from '../../config.js'
import type { Letters, LetterText, LetterTopic } from './letter.js'
import { englishLetters } from './letters-en.js'
import { russianLetters } from './letters-ru.js'

const letters: Readonly<Record<Language, Letters>> = { en: englishLetters, ru: russianLetters }

/** The subject and the blocks of a letter, in its language. */
export function writeLetter(language: Language, topic: LetterTopic): LetterText {
  const write = letters[language][topic.kind] as (facts: LetterTopic) => LetterText
  return write(topic)
}
