import { readFile, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { unzipSync } from 'fflate'
import { builtinFormat, readFormat } from './number-format.js'
import type { NumberFormat } from './number-format.js'
import { TableError } from './table.js'
import { xmlTags } from './xml.js'
import type { XmlTag } from './xml.js'

const bytesMax = 50_000_000
/** Of all parts together. */
const unpackedBytesMax = 512_000_000

/** A sheet of a workbook. */
export interface Sheet {
  readonly name: string
  readonly isHidden: boolean
  readonly tags: () => Generator<XmlTag>
}

/** An XLSX file: a zip of XML parts. */
export interface Workbook {
  readonly sheets: readonly Sheet[]
  /** The results of formulas wait to be computed by Excel. */
  readonly isStale: boolean
  readonly strings: readonly string[]
  /** The number format of each style. */
  readonly formats: readonly NumberFormat[]
}

type TagsOf = (part: string) => Generator<XmlTag>

/**
 * Opens a workbook. No part takes more memory than the directory of the zip says: a longer one is
 * cut, and then no XML.
 * @throws TableError for a file that is too large; Error for one that is no workbook
 */
export async function openWorkbook(path: string, file: string): Promise<Workbook> {
  const { size } = await stat(path)
  const bytes = size > bytesMax ? null : await readFile(path)
  let unpacked = 0
  const measure = ({ originalSize }: { readonly originalSize: number }) => {
    unpacked += originalSize
    return false
  }
  if (bytes) unzipSync(bytes, { filter: measure })
  if (!bytes || unpacked > unpackedBytesMax) {
    const [has, most] = bytes ? [unpacked, unpackedBytesMax] : [size, bytesMax]
    throw new TableError(
      `error: ${file} has ${Math.ceil(has / 1e6)} MB${bytes ? ' unpacked' : ''}; a workbook may ` +
        `have ${most / 1e6}. Save it as CSV.`,
    )
  }
  const tagsOf: TagsOf = (part) => {
    const content = unzipSync(bytes, { filter: ({ name }) => name === part })[part]
    if (content) return xmlTags(content)
    throw new Error(`it has no ${part}`)
  }
  const [part = 'xl/workbook.xml'] = partsOf('', 'officeDocument', tagsOf).values()
  const sheetParts = partsOf(part, 'worksheet', tagsOf)
  const sheets: Sheet[] = []
  let [is1904, isStale] = [false, false]
  const isTrue = (text = '') => ['1', 'true'].includes(text)
  for (const { open, attributes } of tagsOf(part)) {
    const { id = '', name = '', state = 'visible', date1904, fullCalcOnLoad } = attributes
    if (open === 'workbookPr') is1904 = isTrue(date1904)
    if (open === 'calcPr') isStale = isTrue(fullCalcOnLoad)
    const sheetPart = open === 'sheet' ? sheetParts.get(id) : undefined
    if (sheetPart === undefined) continue
    sheets.push({ name, isHidden: state !== 'visible', tags: () => tagsOf(sheetPart) })
  }
  const [strings = []] = [...partsOf(part, 'sharedStrings', tagsOf).values()]
    .map(tagsOf)
    .map(readStrings)
  const [codes = []] = [...partsOf(part, 'styles', tagsOf).values()].map(tagsOf).map(readFormats)
  return { sheets, isStale, strings, formats: codes.map((code) => readFormat(code, is1904)) }
}

/** The parts of one type that a part refers to, by their ids. */
function partsOf(part: string, type: string, tagsOf: TagsOf): ReadonlyMap<string, string> {
  const folder = posix.join('/', posix.dirname(part))
  const links = posix.join(folder, '_rels', `${posix.basename(part)}.rels`).slice(1)
  const parts = new Map<string, string>()
  for (const { open, attributes } of tagsOf(links)) {
    const { Id = '', Type = '', Target = '' } = attributes
    if (open !== 'Relationship' || !Type.endsWith(`/${type}`)) continue
    parts.set(Id, posix.resolve(folder, Target).slice(1))
  }
  return parts
}

function readStrings(tags: Generator<XmlTag>): readonly string[] {
  const strings: string[] = []
  for (const { open, close, text } of tags) {
    if (open === 'si') strings.push('')
    if (close === 't') strings.push(`${strings.pop()}${text}`)
  }
  return strings
}

function readFormats(tags: Generator<XmlTag>): readonly string[] {
  const codes = new Map<string, string>()
  const formats: string[] = []
  let isCellStyle = false
  for (const { open, close, attributes } of tags) {
    const { numFmtId: id = '0', formatCode = '' } = attributes
    if ((open ?? close) === 'cellXfs') isCellStyle = open !== undefined
    if (open === 'numFmt') codes.set(id, formatCode)
    if (open === 'xf' && isCellStyle) formats.push(codes.get(id) ?? builtinFormat(Number(id)))
  }
  return formats
}
