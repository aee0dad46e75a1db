import { inOneScript, spellingsOf, withoutMarks } from './letters.js'

/** A word of a name or of a question. */
export interface Word {
  readonly written: string
  /** In small letters of one script, without marks. */
  readonly text: string
  /** In the alphabet of names, the usual spelling first; a number has one. */
  readonly spellings: readonly string[]
  readonly isNumber: boolean
  /** The first letters of its parts, in the alphabet of names: `тс` for "ТелеСистемы". */
  readonly initials: string
}

/** Quotes inside a word are part of it: "О'Кей". */
const innerQuotes = /(?<=\p{L})['’`ʼʹ](?=\p{L})/gu
/** Letters and digits are words of their own: "А101", "ТГК-14". */
const parts = /\p{L}[\p{L}\p{M}]*|\p{N}+/gu
/** Capitals after small letters begin a part of a word. */
const humps = /^\p{L}|(?<=\p{Ll})\p{Lu}/gu

/** The words of a text. "№" and signs are none. */
export function wordsOf(text: string): readonly Word[] {
  const plain = text.replaceAll('№', ' ').normalize('NFKC').replace(innerQuotes, '')
  return (plain.match(parts) ?? []).map(wordOf)
}

function wordOf(written: string): Word {
  if (/^\p{N}/u.test(written)) {
    return { written, text: written, spellings: [written], isNumber: true, initials: '' }
  }
  // Without marks й is и, and ё is е.
  const bare = unmarked(written)
  const text = inOneScript(bare.toLowerCase())
  // "Škoda" is both.
  const texts = new Set([inOneScript(unmarked(withoutMarks(written.toLowerCase()))), text])
  const spellings = [...new Set([...texts].flatMap(spellingsOf))]
  const firsts = (bare.match(humps) ?? []).map((letter) => letter.toLowerCase())
  const initials = firsts.map((letter) => firstLetter(letter, text)).join('')
  return { written, text, spellings, isNumber: false, initials }
}

function unmarked(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '')
}

/** A capital in the script of its word: the first spelling's first letter. */
function firstLetter(letter: string, word: string): string {
  const own = word.includes(letter) ? letter : inOneScript(`${word[0] ?? ''}${letter}`).slice(-1)
  return spellingsOf(own)[0]?.[0] ?? ''
}
