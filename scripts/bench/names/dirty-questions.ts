import type { Random } from '../../harness/random.js'

/** A question as people type it, made of a real name. */
export interface DirtyQuestion {
  readonly kind: string
  readonly q: string
}

const russianLetters = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя'
const latinLetters = [
  ...'a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch'.split(' '),
  ...['', 'y', '', 'e', 'yu', 'ya'],
]
const russianKeys = 'йцукенгшщзхъфывапролджэячсмитьбюё'
const latinKeys = "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"
const forms = ['ООО', 'ПАО', 'АО', 'ЗАО', 'OOO', 'JSC', 'LLC', 'PJSC']
const longForms = ['Общество с ограниченной ответственностью', 'Акционерное общество']
const typoMin = 5
const twoTyposMin = 9

/** The legal forms at the beginning of the names of the sample, as they are written there. */
const ownForm = new RegExp(
  [
    'международная компания',
    '(непубличное |публичное |открытое |закрытое )?акционерное\\s+общество',
    'общество с ограниченной отве\\S+',
    'государственное унитарное предприятие',
    'публично-правовая компания',
    'ооо|пао|ао|оао|зао',
  ]
    .map((form) => `(?<![а-яё])(${form})(?![а-яё])`)
    .join('|'),
  'giu',
)

/** A name without its legal form and quotes: what people call the company. */
export function plainName(name: string): string {
  const bare = name.replace(/\(.*\)/u, ' ').replace(ownForm, ' ')
  return bare
    .replace(/[«»"'`№]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim()
}

const mapped = (text: string, from: string, to: readonly string[]) =>
  [...text].map((letter) => to[from.indexOf(letter.toLowerCase())] ?? letter).join('')

function typo(word: string, { whole, oneOf }: Random): string {
  const at = whole(1, word.length - 2)
  const [before, letter, after] = [word.slice(0, at), word[at] ?? '', word.slice(at + 1)]
  const wrong = oneOf([...russianLetters].filter((other) => other !== letter))
  return oneOf([
    `${before}${wrong}${after}`,
    `${before}${after}`,
    `${before}${letter}${letter}${after}`,
    `${before}${after[0] ?? ''}${letter}${after.slice(1)}`,
  ])
}

/** One word of some length changed; undefined if no word is so long. */
function changed(words: readonly string[], min: number, random: Random, times = 1) {
  const long = words.filter((word) => word.length >= min && /^[а-яё]+$/iu.test(word))
  if (long.length === 0) return undefined
  const chosen = random.oneOf(long)
  let wrong = chosen.toLowerCase()
  for (let time = 0; time < times; time++) wrong = typo(wrong, random)
  return words.map((word) => (word === chosen ? wrong : word)).join(' ')
}

function withForm(text: string, { oneOf, whole }: Random): string {
  const words = text.split(' ')
  const form = oneOf([...forms, ...longForms])
  const at = whole(0, words.length)
  return [...words.slice(0, at), form, ...words.slice(at)].join(' ')
}

function joined(words: readonly string[], random: Random): string | undefined {
  if (words.length < 2) return undefined
  const at = random.whole(0, words.length - 2)
  const two = [...words.slice(0, at), `${words[at]}${words[at + 1]}`, ...words.slice(at + 2)]
  return random.oneOf([words.join(''), two.join(' ')])
}

function split(words: readonly string[], random: Random): string | undefined {
  const long = words.filter((word) => word.length >= 6)
  if (long.length === 0) return undefined
  const chosen = random.oneOf(long)
  const at = random.whole(2, chosen.length - 2)
  return words
    .map((word) => (word === chosen ? `${word.slice(0, at)} ${word.slice(at)}` : word))
    .join(' ')
}

function initials(words: readonly string[]): string | undefined {
  if (words.length < 2 || words.some((word) => !/^[а-яё]/iu.test(word))) return undefined
  const text = words.map((word) => word[0] ?? '').join('')
  return text.length >= 3 ? text : undefined
}

function beginning(text: string, words: readonly string[], random: Random): string {
  const cut = text.slice(0, Math.max(4, random.whole(Math.ceil(text.length / 2), text.length)))
  const each = words.map((word) => word.slice(0, Math.max(4, Math.ceil(word.length * 0.7))))
  return random.oneOf([cut.trim(), each.join(' ')])
}

function someWords(words: readonly string[], random: Random): string | undefined {
  if (words.length < 3) return undefined
  const first = random.whole(0, words.length - 1)
  const second = (first + random.whole(1, words.length - 1)) % words.length
  return `${words[first]} ${words[second]}`
}

const kinds: Readonly<
  Record<string, (text: string, words: readonly string[], random: Random) => string | undefined>
> = {
  plain: (text, _, { oneOf }) => oneOf([text.toLowerCase(), text.toUpperCase(), `«${text}»`]),
  'one typo': (_, words, random) => changed(words, typoMin, random),
  'two typos': (_, words, random) => changed(words, twoTyposMin, random, 2),
  layout: (text) => mapped(text, russianKeys, [...latinKeys]),
  latin: (text) => mapped(text.toLowerCase(), russianLetters, latinLetters),
  form: (text, _, random) => withForm(text, random),
  joined: (_, words, random) => joined(words, random),
  split: (_, words, random) => split(words, random),
  initials: (_, words) => initials(words),
  beginning,
  'some words': (_, words, random) => someWords(words, random),
  'a typo and a form': (_, words, random) => {
    const wrong = changed(words, typoMin, random)
    return wrong === undefined ? undefined : withForm(wrong, random)
  },
  'latin with a form': (text, _, random) =>
    withForm(mapped(text.toLowerCase(), russianLetters, latinLetters), random),
}

/** One dirty question of each kind that the name allows. */
export function dirtyQuestions(name: string, random: Random): readonly DirtyQuestion[] {
  const text = plainName(name)
  const words = text.split(/[\s.,-]+/u).filter((word) => word !== '')
  return Object.entries(kinds).flatMap(([kind, make]) => {
    const q = make(text, words, random)
    return q === undefined || q.length < 3 ? [] : [{ kind, q }]
  })
}

/** The Latin text of the same keys or sounds, for a scorer of its own. */
export function rekeyed(text: string): string {
  const letters = [...text.toLowerCase()]
  return letters.map((letter) => russianKeys[latinKeys.indexOf(letter)] ?? letter).join('')
}

/** A text in Latin letters, one way. */
export function inLatin(text: string): string {
  return mapped(text.toLowerCase(), russianLetters, latinLetters)
}
