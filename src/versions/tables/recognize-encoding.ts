import { firstBytes, isWholly } from './byte-text.js'
import { TableError, shownText } from './table.js'
import type { ReadBytes } from './table.js'

/** Encodings with a byte order mark, in hexadecimal digits. */
const marks = { 'utf-8': 'efbbbf', 'utf-16le': 'fffe', 'utf-16be': 'feff' }
/** Bytes at the start in which UTF-16 without a mark shows by its high bytes. */
const headBytes = 4096
const highShareMin = 0.9

/** Encodings of Russian, the likeliest first. */
const russian = ['windows-1251', 'koi8-r', 'x-mac-cyrillic', 'ibm866', 'iso-8859-5'] as const
/** After the first letter of each group: the letters that follow it in Russian; `_` = no letter. */
const followers =
  '_абвгдежзийклмнопрстуфхцчшщэюя а_бвгдежзийклмнопрстуфхцчшщэюя б_аеиклнорсуцщъы ' +
  'в_авгдезиклнорстуцшыья г_адеилнору д_авежиклмнопрсучыь е_бвгдежзйклмнопрстфхцчшщя ж_абдеикну ' +
  'з_авдеиклмноруыь и_абвгдежзийклмнопрстфхцчшюя й_дклност к_авеилнорстуц л_абгеиклносуыьюя ' +
  'м_абеилмнопсуыья н_абвгдезикностуфцчыья о_абвгдежзийклмнопрстуфхцчшщя п_аеилнопрстуы ' +
  'р_абвгдежиклмнопстуфхшыьюя с_авдеиклмнопрстучшыья т_авдеикмнорсуыьюя у_абвгдежзклмнпрстхчшщю ' +
  'ф_аеиоры х_аеилнор ц_аеиоы чаеикнт шаеиклноу щаеиу ъе ы_бвдейклмнпрстхчш ь_везикмнстцшюя ' +
  'эклрт ю_бгджкмнрстчщ я_бвдезклмнрстцчщю'
const pairs = new Set(
  followers.split(' ').flatMap(([first = '', ...after]) => after.map((each) => first + each)),
)
/** Signs that stand beside letters, and signs that do not, as Latin letters do not. */
const quotes = /[«»„“”…№\u00a0]/g
const signs = /[‘’–—°§±×€™©®·•]/g
/** Russian has 95 % known pairs; other languages read as Russian have at most 83 %. */
const shareMin = 0.9
/** Different pairs of letters; below, accents of another language could be Russian words. */
const lettersMin = 8
/** An unknown pair counts as much as these known ones. A pair counts once: words repeat. */
const missWeight = 4
/** By how much the best encoding is ahead of another one that gives another text. */
const leadMin = 9
/** So many letters of UTF-8 for each wrong one make bad lines of it. */
const utf8Lead = 4

/**
 * The encoding of a file, from its byte order mark or from all its bytes: UTF-8, UTF-16, or one in
 * which its text is Russian. A file that begins as UTF-8 is UTF-8 with bad lines.
 * @throws TableError if no encoding is certain, with the text in those that are possible
 */
export async function recognizeEncoding(bytes: ReadBytes, file: string): Promise<string> {
  const marked = await markedEncoding(bytes)
  if (marked !== null) return marked
  const isUtf8 = await isWholly(bytes, 'utf-8')
  const { counts, sample } = await countPairs(bytes)
  const readings = russian.map((encoding) => readingOf(encoding, counts))
  const [best, ...others] = readings.sort((left, right) => right.score - left.score)
  const rival = others.find(({ text }) => best?.text !== text)
  const lead = (best?.score ?? 0) - (rival?.score ?? 0)
  // A few short words of another encoding may be valid UTF-8: `ржи` in ibm866.
  if (isUtf8 && !(best?.share === 1 && best.letters > 1)) return 'utf-8'
  if (best && best.letters >= lettersMin && best.share >= shareMin && lead >= leadMin) {
    return best.encoding
  }
  const sampleIn = (each: string) => new TextDecoder(each).decode(sample, { stream: true })
  const all = sampleIn('utf-8').replace(/[\0-\x7f]/g, '')
  const right = all.replaceAll('\ufffd', '').length
  if (!isUtf8 && right > (all.length - right) * utf8Lead) return 'utf-8'
  const labels = [...readings.map(({ encoding }) => encoding), 'windows-1252', 'utf-8']
  throw new TableError(
    `error: the encoding of ${file} is not certain. Name it with --encoding LABEL:`,
    ...labels.map((each) => `  ${each}: ${shownText(sampleIn(each))}`),
  )
}

async function markedEncoding(bytes: ReadBytes): Promise<string | null> {
  const head = (await firstBytes(bytes)).subarray(0, headBytes)
  const hex = Array.from(head.subarray(0, 3), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const marked = Object.entries(marks).find(([, mark]) => hex.startsWith(mark))
  if (marked || !head.includes(0)) return marked?.[0] ?? null
  // High bytes of Latin letters are 0, those of Cyrillic ones 4.
  const [isBig, isLittle] = [0, 1].map((side) => {
    const half = head.filter((_, index) => index % 2 === side)
    return half.filter((byte) => byte === 0 || byte === 4).length > half.length * highShareMin
  })
  if (isBig === isLittle) return null
  return isBig ? 'utf-16be' : 'utf-16le'
}

/** How often two bytes, one of them above ASCII, are neighbours; and the bytes around the first. */
async function countPairs(bytes: ReadBytes) {
  const counts = new Float64Array(0x10000)
  let [last, sample] = [10, Uint8Array.of()]
  const add = (byte: number) => {
    const pair = last * 256 + byte
    counts[pair] = (counts[pair] ?? 0) + 1
    last = byte
  }
  for await (const part of bytes()) {
    const at = sample.length > 0 ? -1 : part.findIndex((byte) => byte >= 0x80)
    if (at >= 0) sample = part.slice(Math.max(0, at - 10), at + 60)
    for (const byte of part) add(byte)
  }
  add(10)
  const above = [...counts.keys()].filter((pair) => counts[pair] !== 0 && (pair & 0x8080) !== 0)
  return { counts: above.map((pair) => [pair, counts[pair] ?? 0] as const), sample }
}

/** How far a file is Russian in an encoding. */
function readingOf(encoding: string, counts: readonly (readonly [pair: number, count: number])[]) {
  const decoder = new TextDecoder(encoding)
  let [hits, misses, letters, score, text] = [0, 0, 0, 0, '']
  for (const [pair, count] of counts) {
    const both = decoder.decode(Uint8Array.of(pair >> 8, pair & 255))
    text += both
    const low = both.toLowerCase().replace(quotes, ' ').replace(signs, 'z')
    const known = low.replace('ё', 'е').replace(/[^а-я]/, '_')
    const isOdd = /[^\p{ASCII}а-яё]|[а-яё][a-z]|[a-z][а-яё]/u.test(low)
    // An ё at the start is as rare as a capital letter that another encoding has in its place.
    if (!isOdd && (!/[а-яё]/.test(low) || /[^а-яё]ё/.test(low))) continue
    const isHit = !isOdd && !/[а-яё][А-ЯЁ]/.test(both) && pairs.has(known)
    if (isHit) hits += count
    else misses += count
    if (isHit && !known.includes('_')) letters += 1
    score += isHit ? 1 : -missWeight
  }
  return { encoding, text, letters, share: hits / Math.max(1, hits + misses), score }
}
