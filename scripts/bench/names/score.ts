import { inLatin, plainName, rekeyed } from './dirty-questions.js'

/** A name as the scorer compares it; it shares no code with the index. */
export interface Scored {
  readonly joined: string
  readonly words: readonly string[]
  readonly initials: string
}

const otherForms = /(?<![\p{L}])(ooo|pao|ao|zao|oao|jsc|llc|pjsc)(?![\p{L}])/giu
/** What a match is worth, before one point an edit. */
const worth = { same: 100, beginning: 80, words: 60, typo: 40 }

/** Prepares a name or a question. */
export function prepared(text: string): Scored {
  const plain = inLatin(plainName(text).replace(otherForms, ' '))
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  return {
    joined: words.join(''),
    words,
    initials: words.map((word) => word[0] ?? '').join(''),
  }
}

/** The question as it is, and as it would be in the other layout of the keyboard. */
export function readings(q: string): readonly Scored[] {
  return [prepared(q), prepared(rekeyed(q))].filter(({ joined }) => joined !== '')
}

/** How well a name answers a question; 0 = not at all. */
export function score(question: readonly Scored[], name: Scored): number {
  return Math.max(...question.map((each) => scoreOf(each, name)))
}

function scoreOf(question: Scored, name: Scored): number {
  if (question.joined === name.joined) return worth.same
  if (question.joined.length >= 3 && name.joined.startsWith(question.joined)) return worth.beginning
  const isWord = (word: string) => name.words.some((other) => other.startsWith(word))
  if (question.words.every(isWord)) return worth.words
  if (question.words.length === 1 && sameInitials(question.joined, name)) return worth.words
  const edits = Math.min(wordEdits(question, name), distance(question.joined, name.joined, 2))
  return edits <= 2 ? worth.typo - edits : 0
}

function sameInitials(text: string, { initials }: Scored): boolean {
  return text.length >= 2 && text === initials
}

function wordEdits(question: Scored, name: Scored): number {
  let edits = 0
  for (const word of question.words) {
    const nearest = name.words.map((other) =>
      other.startsWith(word) ? 0 : distance(word, other, other.length >= 9 ? 2 : 1),
    )
    edits += Math.min(...nearest)
    if (edits > 2) break
  }
  return edits
}

/** Edits with swaps of neighbours; beyond `max`, any number above it. Short words have none. */
function distance(left: string, right: string, max: number): number {
  if (right.length < 5 || Math.abs(left.length - right.length) > max) return 9
  const digits = (text: string) => text.replace(/\P{N}/gu, '')
  if (digits(left) !== digits(right)) return 9
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= left.length; i++) {
    const row = [i]
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1
      let best = Math.min((rows[i - 1]?.[j] ?? 9) + 1, (row[j - 1] ?? 9) + 1)
      best = Math.min(best, (rows[i - 1]?.[j - 1] ?? 9) + same)
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        best = Math.min(best, (rows[i - 2]?.[j - 2] ?? 9) + 1)
      }
      row.push(best)
    }
    rows.push(row)
  }
  const edits = rows[left.length]?.[right.length] ?? 9
  return edits <= max ? edits : 9
}
