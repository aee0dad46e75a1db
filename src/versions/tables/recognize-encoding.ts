import { fileBytes, isWholly } from './file-text.js'
import { TableError, shownText } from './table.js'

/** Encodings with a byte order mark, in hexadecimal digits. */
const marks = { 'utf-8': 'efbbbf', 'utf-16le': 'fffe', 'utf-16be': 'feff' }
/** Bytes at the start in which UTF-16 without a mark shows by its high bytes. */
const headBytes = 4096
const highShareMin = 0.9

/** Encodings of Russian, the likeliest first. */
const russian = ['windows-1251', 'koi8-r', 'x-mac-cyrillic', 'ibm866', 'iso-8859-5'] as const
/** After the first letter of each group: the letters that follow it in Russian; `_` = no letter. */
const followers =
  '_абвгдежзиклмнопрстуфхцчшэя а_бвгдежзийклмнопрстфхцчшщэюя б_аеилнорсуцщъыя ' +
  'в_авезиклнорстушыя г_адеилору д_авежиклнопрсучы е_абвгдежзйклмнопрстфхцчшщя жабдеину ' +
  'з_авдеиклмноруы и_абвгдежзийклмнопрстфхцчшюя й_длнст к_авеилорстуц л_абеиклносуыьюя ' +
  'м_аеилмнопсуыя н_авгдеикностуфцыья о_абвгдежзийклмнопрстфхцчшщя п_аеилнопртуы ' +
  'р_авгдежикмностушыья с_абвдеиклмнопрстучшыья т_авдеикмнорсуыья у_абвгдежзклмнпрстхчшщю ' +
  'ф_аеиоры х_аинор ц_аеиы чаеикнт ш_аеиклн щаеи ъе ы_бвейклмпрстхш ь_езкнстшюя эклрт ю_бтчщ ' +
  'я_вдезлмнстхцщю'
const pairs = new Set(
  followers.split(' ').flatMap(([first = '', ...after]) => after.map((each) => first + each)),
)
/** Signs that stand beside letters, and signs that do not, as Latin letters do not. */
const quotes = /[«»„“”…№\u00a0]/g
const signs = /[‘’–—°§±×€™©®·•]/g
/** Russian has 95 % known pairs; other languages read as Russian have at most 78 %. */
const shareMin = 0.88
/** Letters side by side; below, a few accents of another language could be Russian words. */
const lettersMin = 8
/** An unknown pair counts as much as these known ones. */
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
export async function recognizeEncoding(path: string, file: string): Promise<string> {
  const marked = await markedEncoding(path)
  if (marked !== null || (await isWholly(path, 'utf-8'))) return marked ?? 'utf-8'
  const { counts, sample } = await countPairs(path)
  const readings = russian.map((encoding) => readingOf(encoding, counts))
  const [best, ...others] = readings.sort((left, right) => right.score - left.score)
  const rival = others.find(({ text }) => best?.text !== text)
  const lead = (best?.score ?? 0) - (rival?.score ?? 0)
  if (best && best.letters >= lettersMin && best.share >= shareMin && lead >= leadMin) {
    return best.encoding
  }
  const sampleIn = (each: string) => new TextDecoder(each).decode(sample, { stream: true })
  const utf8 = sampleIn('utf-8')
  const wrong = utf8.split('\ufffd').length - 1
  if (utf8.replace(/[\0-\x7f\ufffd]/g, '').length > wrong * utf8Lead) return 'utf-8'
  const labels = [...readings.map(({ encoding }) => encoding), 'windows-1252', 'utf-8']
  throw new TableError(
    `error: ${file} is not UTF-8, and its encoding is not certain. Name it with --encoding LABEL:`,
    ...labels.map((each) => `  ${each}: ${shownText(sampleIn(each))}`),
  )
}

async function markedEncoding(path: string): Promise<string | null> {
  const all = fileBytes(path)
  const { value } = await all.next()
  await all.return(undefined)
  const head = Buffer.from(value ?? []).subarray(0, headBytes)
  const hex = head.toString('hex', 0, 3)
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
async function countPairs(path: string) {
  const counts = new Float64Array(0x10000)
  let [last, sample] = [10, Buffer.of()]
  const add = (byte: number) => {
    const pair = last * 256 + byte
    counts[pair] = (counts[pair] ?? 0) + 1
    last = byte
  }
  for await (const bytes of fileBytes(path)) {
    const at = sample.length > 0 ? -1 : bytes.findIndex((byte) => byte >= 0x80)
    if (at >= 0) sample = Buffer.from(bytes.subarray(Math.max(0, at - 10), at + 60))
    for (const byte of bytes) add(byte)
  }
  add(10)
  const isAbove = ([pair, count]: readonly [number, number]) => count > 0 && (pair & 0x8080) !== 0
  return { counts: [...counts.entries()].filter(isAbove), sample }
}

/** How far a file is Russian in an encoding. */
function readingOf(encoding: string, counts: readonly (readonly [pair: number, count: number])[]) {
  const decoder = new TextDecoder(encoding)
  let [hits, misses, letters, text] = [0, 0, 0, '']
  for (const [pair, count] of counts) {
    const both = decoder.decode(Uint8Array.of(pair >> 8, pair & 255))
    text += both
    const plain = both.toLowerCase().replaceAll('ё', 'е').replace(quotes, ' ').replace(signs, 'z')
    if (/[^\p{ASCII}а-я]|[а-я][a-z]|[a-z][а-я]/u.test(plain)) misses += count
    else if (!/[а-я]/.test(plain)) continue
    else if (/[а-яё][А-ЯЁ]/.test(both) || !pairs.has(plain.replace(/[^а-я]/, '_'))) misses += count
    else {
      hits += count
      if (/[а-я]{2}/.test(plain)) letters += count
    }
  }
  const share = hits / Math.max(1, hits + misses)
  return { encoding, text, letters, share, score: hits - missWeight * misses }
}
