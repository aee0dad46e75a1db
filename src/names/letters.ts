/**
 * The letters of names. Every word is compared in one alphabet: Cyrillic without ё, й, э, ы, щ, ъ
 * and ь, which people mix up or leave out. Latin words get a place in it by their transliterations.
 */

/** What remains of a Cyrillic letter, where it is not itself; marks are gone already. */
const folded: Readonly<Record<string, string>> = Object.freeze({
  ...{ э: 'е', ы: 'и', щ: 'ш', ъ: '', ь: '' },
  // Ukrainian, Belarusian, Kazakh, Tatar, Bashkir
  ...{ і: 'и', є: 'е', ґ: 'г', қ: 'к', ғ: 'г', ң: 'н', ө: 'о', ұ: 'у', ү: 'у', ә: 'а', һ: 'х' },
})

const foldedLetters = new RegExp(`[${Object.keys(folded).join('')}]`, 'g')

/** Latin letters beside the Cyrillic ones that look like them, small or capital. */
const latinAlike = 'abcehkmoptxy'
const cyrillicAlike = 'авсенкмортху'

/** What Latin letters stand for, the usual first. The longest run of letters counts. */
const transliterations: Readonly<Record<string, readonly string[]>> = Object.freeze({
  ...{ a: ['а'], b: ['б'], c: ['к', 'ц', 'с'], d: ['д'], e: ['е'], f: ['ф'], g: ['г'] },
  ...{ h: ['х', 'г'], i: ['и'], j: ['ж', 'и', 'дж'], k: ['к'], l: ['л'], m: ['м'], n: ['н'] },
  ...{ o: ['о'], p: ['п'], q: ['к'], r: ['р'], s: ['с'], t: ['т'], u: ['у'], v: ['в'] },
  ...{ w: ['в', 'у'], x: ['кс', 'х'], y: ['и'], z: ['з', 'ц', 'ж'] },
  ...{ zh: ['ж'], kh: ['х'], ts: ['ц', 'тс'], tc: ['ц', 'тк'], ch: ['ч', 'х'], sh: ['ш'] },
  ...{ tz: ['ц', 'тз'] },
  ...{ sch: ['ш', 'сч'], shch: ['ш'], tch: ['ч'], ph: ['ф'], ck: ['к'], th: ['т'] },
  ...{ yu: ['ю', 'иу'], iu: ['ю', 'иу'], ju: ['ю', 'жу'], ya: ['я', 'иа'], ja: ['я', 'жа'] },
  ...{ ia: ['ия', 'я', 'иа'], ye: ['е', 'ие'], je: ['е', 'же', 'дже'], yo: ['е', 'ио'] },
  ...{ jo: ['е', 'жо', 'ио'], io: ['ио', 'е'], oo: ['у', 'оо'], ee: ['и', 'ее'] },
})
const runMax = 4
/** Of one Latin word. */
const spellingsMax = 12

/** Letters with marks that a transliteration by ISO 9 has for other sounds than without. */
const marked: Readonly<Record<string, string>> = Object.freeze({
  ...{ ž: 'zh', č: 'ch', š: 'sh', ŝ: 'shch', ë: 'yo', û: 'yu', â: 'ya' },
})
const markedLetters = new RegExp(`[${Object.keys(marked).join('')}]`, 'g')

const isCyrillic = (letter: string) => letter >= '\u0400' && letter <= '\u04ff'
const isLatin = (letter: string) => letter >= 'a' && letter <= 'z'

/**
 * A word of small letters without marks in one script: letters that only look like those of the
 * script of the others are replaced.
 */
export function inOneScript(word: string): string {
  const letters = [...word]
  if (!letters.some(isCyrillic) || !letters.some(isLatin)) return word
  const isLatinWord =
    letters.filter(isCyrillic).every((letter) => cyrillicAlike.includes(letter)) &&
    letters.filter(isLatin).some((letter) => !latinAlike.includes(letter))
  const [from, to] = isLatinWord ? [cyrillicAlike, latinAlike] : [latinAlike, cyrillicAlike]
  return letters.map((letter) => to[from.indexOf(letter)] ?? letter).join('')
}

/**
 * The spellings of a word of one script in the alphabet of names, at least one, the usual first:
 * one of a Cyrillic word, some of a Latin one.
 */
export function spellingsOf(word: string): readonly string[] {
  const isLatinWord = isLatin(word[0] ?? '') && ![...word].some(isCyrillic)
  const spellings = new Set(transliterated(word).slice(0, spellingsMax))
  if (isLatinWord && [...word].every((letter) => latinAlike.includes(letter))) {
    spellings.add(inCyrillic(word))
  }
  return [...spellings]
}

/** A small word with the letters that its marked ones stand for, as by ISO 9. */
export function withoutMarks(word: string): string {
  return word.replace(markedLetters, (letter) => marked[letter] ?? letter)
}

function inCyrillic(word: string): string {
  return [...word].map((letter) => cyrillicAlike[latinAlike.indexOf(letter)] ?? letter).join('')
}

/** Every reading of the letters; those of the usual readings come first. */
function transliterated(word: string): readonly string[] {
  if (!/[a-z]/.test(word)) {
    return [word.replace(foldedLetters, (letter) => folded[letter] ?? '') || word]
  }
  const byRuns = spelled(word, runMax)
  // An abbreviation stands for its letters: MTS.
  return /[aeiouy]/.test(word) ? byRuns : [...spelled(word, 1).slice(0, 2), ...byRuns]
}

function spelled(word: string, lettersMax: number): readonly string[] {
  let spellings: readonly string[] = ['']
  for (let at = 0; at < word.length;) {
    const run = runAt(word, at, lettersMax)
    const readings = transliterations[run] ?? [folded[run] ?? run]
    // All spellings with the usual reading stay before those with a rare one.
    spellings = readings
      .flatMap((reading) => spellings.map((spelling) => spelling + reading))
      .slice(0, spellingsMax)
    at += run.length
  }
  return spellings
}

function runAt(word: string, at: number, lettersMax: number): string {
  for (let length = lettersMax; length > 1; length--) {
    const run = word.slice(at, at + length)
    if (run.length === length && Object.hasOwn(transliterations, run)) return run
  }
  return word[at] ?? ''
}

const latinKeys = '`qwertyuiop[]asdfghjkl;\'zxcvbnm,./~QWERTYUIOP{}ASDFGHJKL:"ZXCVBNM<>?@#'
const cyrillicKeys = 'ёйцукенгшщзхъфывапролджэячсмитьбю.ЁЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮ,"№'

/** Keys of Cyrillic letters that are signs in Latin: words that people mean have none inside. */
const signInside = /\p{L}[^\p{L}\p{N}\s-]+\p{L}/u

/**
 * A text as it would be if the keyboard had been in its other layout: one for a text of one script;
 * for a mixed one first its Latin words changed, then its Cyrillic ones.
 */
export function otherLayouts(text: string): readonly string[] {
  const toCyrillic = rekeyed(text, /[a-z]/i, latinKeys, cyrillicKeys)
  const toLatin = rekeyed(text, /[а-яё]/i, cyrillicKeys, latinKeys)
  // A stop may be a stop in both: "Mail.ru".
  const withStops = rekeyed(text, /[a-z]/i, latinKeys.replace('.', ' '), cyrillicKeys)
  const others = [...new Set([toCyrillic, withStops, toLatin])]
  return others.filter((each) => each !== text && (each !== toLatin || !signInside.test(each)))
}

/** Signs where Russian letters are, before or between Latin letters: `,fyr`, `h;l`. */
const signBeforeLatin = /(?:^|[\sa-z])[;[\]{}<>`,](?=[a-z])/i

/** Whether a text can hardly be what a person meant to type. */
export function looksMistyped(text: string): boolean {
  return signBeforeLatin.test(text)
}

function rekeyed(text: string, script: RegExp, from: string, to: string): string {
  const letterFor = (letter: string) => to[from.indexOf(letter)] ?? letter
  return text
    .split(/(\s+)/)
    .map((chunk) => (script.test(chunk) ? [...chunk].map(letterFor).join('') : chunk))
    .join('')
}
