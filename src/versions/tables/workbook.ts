import { unzipSync } from 'fflate'
import { builtinFormat, readFormat } from './number-format.js'
import { TableError } from './table.js'
import type { ReadBytes } from './table.js'
import { xmlTags } from './xml.js'
import type { XmlTag } from './xml.js'

const megabyte = 1_000_000
const sizeMax = 50 * megabyte
/** In place of a size in the directory of a zip: it stands elsewhere. */
const zip64Mark = 0xffffffff
/** Of all parts together. */
const unpackedMax = 512 * megabyte

/** An XLSX file: a zip of XML parts. */
export type Workbook = Awaited<ReturnType<typeof openWorkbook>>
export type Sheet = Workbook['sheets'][number]

type TagsOf = (part: string) => Generator<XmlTag>

/**
 * Opens a workbook. No part takes more memory than the directory of the zip says: a longer one is
 * cut, and then no XML.
 * @throws TableError for a file that is too large; Error for one that is no workbook
 */
export async function openWorkbook(readBytes: ReadBytes, file: string) {
  const bytes = await wholeOf(readBytes, file)
  let [unpacked, isZip64] = [0, false]
  unzipSync(bytes, {
    filter: ({ originalSize }) => {
      isZip64 ||= originalSize === zip64Mark
      return (unpacked += originalSize) < 0
    },
  })
  if (isZip64) {
    const way = 'Open it in Excel or LibreOffice and save it, or save it as CSV'
    throw new TableError(`error: ${file} is packed as zip64, which is not read. ${way}.`)
  }
  if (unpacked > unpackedMax) {
    const [has, may] = [unpacked, unpackedMax].map((size) => Math.ceil(size / megabyte))
    throw new TableError(
      `error: ${file} has ${has} MB unpacked; a workbook may have ${may}. Save it as CSV.`,
    )
  }
  const tagsOf: TagsOf = (part) => {
    const content = unzipSync(bytes, { filter: ({ name }) => name === part })[part]
    if (content) return xmlTags(content)
    throw new Error(`it has no ${part}`)
  }
  const [part = ''] = partsOf('', 'officeDocument', tagsOf).values()
  const sheetParts = partsOf(part, 'worksheet', tagsOf)
  const sheets: { name: string; isHidden: boolean; tags: () => Generator<XmlTag> }[] = []
  let [is1904, isStale] = [false, false]
  for (const { open, attributes } of tagsOf(part)) {
    const { id = '', name = '', state = 'visible', date1904 = '', fullCalcOnLoad = '' } = attributes
    is1904 ||= /^(1|true)$/.test(date1904)
    isStale ||= /^(1|true)$/.test(fullCalcOnLoad)
    const sheetPart = open === 'sheet' ? sheetParts.get(id) : undefined
    if (sheetPart === undefined) continue
    sheets.push({ name, isHidden: state !== 'visible', tags: () => tagsOf(sheetPart) })
  }
  const [texts = ''] = partsOf(part, 'sharedStrings', tagsOf).values()
  const [styles = ''] = partsOf(part, 'styles', tagsOf).values()
  const codes = styles === '' ? [] : readFormats(tagsOf(styles))
  const formats = codes.map((code) => readFormat(code, is1904))
  return { sheets, isStale, strings: texts === '' ? [] : readStrings(tagsOf(texts)), formats }
}

/** The parts of one type that a part refers to, by their ids. */
function partsOf(part: string, type: string, tagsOf: TagsOf): ReadonlyMap<string, string> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1)
  const parts = new Map<string, string>()
  for (const { attributes } of tagsOf(`${folder}_rels/${part.slice(folder.length)}.rels`)) {
    const { Id = '', Type = '', Target = '' } = attributes
    if (Type.endsWith(`/${type}`)) parts.set(Id, partAt(folder, Target))
  }
  return parts
}

/** The part that a path names, from this folder or, after a slash, from the root. */
function partAt(folder: string, path: string): string {
  const steps: string[] = []
  for (const step of (path.startsWith('/') ? path : folder + path).split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  return steps.join('/')
}

async function wholeOf(readBytes: ReadBytes, file: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of readBytes()) {
    size += part.length
    if (size > sizeMax) {
      throw new TableError(`error: ${file} has over ${sizeMax / megabyte} MB. Save it as CSV.`)
    }
    parts.push(part)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function readStrings(tags: Generator<XmlTag>): readonly string[] {
  const strings: string[] = []
  for (const { open, close, text } of tags) {
    if (open === 'si') strings.push('')
    if (close === 't') strings.push(`${strings.pop()}${text}`)
  }
  return strings
}

/** The code of the number format of each style. */
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
