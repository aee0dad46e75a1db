import { badRequest } from '../../errors.js'
import { quoted } from '../../text.js'
import { csvSplitter } from './csv-records.js'
import { isWholly, textIn } from './byte-text.js'
import { recognizeEncoding } from './recognize-encoding.js'
import { shownText } from './table.js'
import type { ReadBytes, TableOrder, TableRow, TableSource } from './table.js'

/** Enough lines to recognise the separator. */
const beginningLetters = 256 * 1024
export const separators = [';', '\t', '|', ','] as const

type TextOrder = Pick<TableOrder, 'file' | 'encoding'>

/**
 * Opens a CSV or TSV file, and recognises its encoding and separator. A first line `sep=;`, as
 * Excel writes it, names the separator.
 * @throws TableError; bad_request for an unknown encoding
 */
export async function openCsv(
  order: TextOrder & Pick<TableOrder, 'separator' | 'skipLines'>,
  bytes: ReadBytes,
): Promise<TableSource> {
  const { encoding, parts, checked } = await openText(order, bytes)
  let beginning = ''
  for await (const part of parts()) {
    beginning += part
    if (beginning.length >= beginningLetters) break
  }
  const [, named] = /^"?sep=([^"\r\n])"?[\r\n]/i.exec(beginning) ?? []
  const skipLines = Math.max(order.skipLines, named === undefined ? 0 : 1)
  const below = (rows: readonly TableRow[]) => rows.filter(({ line }) => line > skipLines)
  const isWhole = beginning.length < beginningLetters
  const rowsWith = (each: string) => below(csvSplitter(each)(beginning, isWhole))
  const stated = order.separator ?? named ?? null
  const [separator = ',', rival] = stated === null ? likelySeparators(rowsWith) : [stated]
  const rivals = `${quoted(rival ?? '')} splits the lines as evenly as ${quoted(separator)}`
  const doubts = rival === undefined ? [] : [`${rivals}; name one with --separator`]
  const split = csvSplitter(separator)
  async function* rows() {
    for await (const part of parts()) yield checked(below(split(part, false)))
    yield checked(below(split('', true)))
  }
  const none = { sheet: null, names: null, notes: [] }
  return { encoding, separator, ...none, doubts, rows: rows() }
}

/**
 * The encoding of a file, its text in parts, and what marks rows with characters that can't be.
 * @throws TableError; bad_request for an unknown encoding
 */
export async function openText({ file, encoding: stated }: TextOrder, bytes: ReadBytes) {
  const encoding = stated === null ? await recognizeEncoding(bytes, file) : labelOf(stated)
  const wrong = (await isWholly(bytes, encoding)) ? /[\0\p{Cs}]/u : /[\0\p{Cs}\ufffd]/u
  const checked = (rows: readonly TableRow[]): readonly TableRow[] =>
    rows.map((row) => {
      const [found] = wrong.exec(row.cells.join('')) ?? []
      if (found === undefined) return row
      const what = found === '\0' ? 'a NUL character' : `bytes that are not ${encoding}`
      return { ...row, problem: `${what}: ${shownText(row.cells.join(' '))}` }
    })
  return { encoding, parts: () => textIn(bytes, encoding), checked }
}

function labelOf(stated: string): string {
  try {
    return new TextDecoder(stated).encoding
  } catch {
    throw badRequest(
      `${quoted(stated)} is not a known encoding: name one of the Encoding Standard, such as ` +
        'utf-8, utf-16le, windows-1251, windows-1252, ibm866 or koi8-r.',
    )
  }
}

/**
 * The separators that split the most lines into as many fields as the first or, below a title, as
 * most of the others. None if the file has one column.
 */
function likelySeparators(rowsWith: (separator: string) => readonly TableRow[]): readonly string[] {
  const shares = separators.map((separator) => {
    const rows = rowsWith(separator).filter(({ cells }) => cells.length > 1 || cells[0] !== null)
    const first = rows.findIndex(({ cells }) => cells.length > 1)
    const counts = rows.slice(Math.max(first, 0)).map(({ cells }) => cells.length)
    const sorted = counts.toSorted((a, b) => a - b)
    const fields = (first === 0 ? counts[0] : sorted[sorted.length >> 1]) ?? 0
    const like = counts.filter((count) => count === fields).length
    const isOne = fields > 1 && (first === 0 || (like > 1 && like * 2 > counts.length))
    return isOne ? like / rows.length : 0
  })
  const most = Math.max(...shares)
  return separators.filter((_, index) => most > 0 && shares[index] === most)
}
