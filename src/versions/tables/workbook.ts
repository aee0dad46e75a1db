import { readFile, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { unzipSync } from 'fflate'
import { builtinFormat, readFormat } from './number-format.js'
import type { NumberFormat } from './number-format.js'
import { TableError } from './table.js'
import { xmlTags } from './xml.js'
import type { XmlTag } from './xml.js'

const megabyte = 1_000_000
const fileMegabytesMax = 50
/** Of all parts together. */
const unpackedMegabytesMax = 512

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

/** A part of the file by its path. */
type TagsOf = (part: string) => Generator<XmlTag>

/**
 * Opens a workbook. No part takes more than its size in the directory of the zip: a longer one is
 * cut, and then no XML.
 * @throws TableError for a file that is too large; Error for one that is no workbook
 */
export async function openWorkbook(path: string, file: string): Promise<Workbook> {
  const { size } = await stat(path)
  const limit = (words: string, megabytes: number) =>
    new TableError([`error: ${file} has ${words}${megabytes} MB. Save it as CSV.`])
  if (size > fileMegabytesMax * megabyte) throw limit('over ', fileMegabytesMax)
  const bytes = await readFile(path)
  let unpackedBytes = 0
  const measure = ({ originalSize }: { readonly originalSize: number }) => {
    unpackedBytes += originalSize
    return false
  }
  unzipSync(bytes, { filter: measure })
  if (unpackedBytes > unpackedMegabytesMax * megabyte)
    throw limit('unpacked over ', unpackedMegabytesMax)
  const tagsOf: TagsOf = (part) => {
    const content = unzipSync(bytes, { filter: ({ name }) => name === part })[part]
    if (content) return xmlTags(content)
    throw new Error(`it has no ${part}`)
  }
  const [part = 'xl/workbook.xml'] = partsOf('', 'officeDocument', tagsOf).values()
  const sheetParts = partsOf(part, 'worksheet', tagsOf)
  const [stringsPart] = partsOf(part, 'sharedStrings', tagsOf).values()
  const [stylesPart] = partsOf(part, 'styles', tagsOf).values()
  const sheets: Sheet[] = []
  let [is1904, isStale] = [false, false]
  const isTrue = (text = '') => ['1', 'true'].includes(text)
  for (const { open, attribute } of tagsOf(part)) {
    if (open === 'workbookPr') is1904 = isTrue(attribute('date1904'))
    if (open === 'calcPr') isStale = isTrue(attribute('fullCalcOnLoad'))
    const sheetPart = open === 'sheet' ? sheetParts.get(attribute('id') ?? '') : undefined
    if (sheetPart === undefined) continue
    const isHidden = !['visible', undefined].includes(attribute('state'))
    sheets.push({ name: attribute('name') ?? '', isHidden, tags: () => tagsOf(sheetPart) })
  }
  if (sheets.length === 0) throw new Error('it has no sheet')
  const codes = stylesPart === undefined ? [] : readFormats(tagsOf(stylesPart))
  const formats = codes.map((code) => readFormat(code, is1904))
  const strings = stringsPart === undefined ? [] : readStrings(tagsOf(stringsPart))
  return { sheets, isStale, strings, formats }
}

/** The parts of one type that a part refers to, by their ids. */
function partsOf(part: string, type: string, tagsOf: TagsOf): ReadonlyMap<string, string> {
  const folder = posix.join('/', posix.dirname(part))
  const parts = new Map<string, string>()
  for (const { open, attribute } of tagsOf(
    `${folder}/_rels/${posix.basename(part)}.rels`.replace(/^\/+/, ''),
  )) {
    if (open !== 'Relationship' || !attribute('Type')?.endsWith(`/${type}`)) continue
    parts.set(attribute('Id') ?? '', posix.resolve(folder, attribute('Target') ?? '').slice(1))
  }
  return parts
}

function readStrings(tags: Generator<XmlTag>): readonly string[] {
  const strings: string[] = []
  let string = ''
  for (const { close, text } of tags) {
    if (close === 't') string += text
    if (close !== 'si') continue
    strings.push(string)
    string = ''
  }
  return strings
}

function readFormats(tags: Generator<XmlTag>): readonly string[] {
  const codes = new Map<string, string>()
  const formats: string[] = []
  let isCellStyle = false
  for (const { open, close, attribute } of tags) {
    const id = attribute('numFmtId') ?? '0'
    if (open === 'cellXfs' || close === 'cellXfs') isCellStyle = open !== null
    if (open === 'numFmt') codes.set(id, attribute('formatCode') ?? '')
    if (open === 'xf' && isCellStyle) formats.push(codes.get(id) ?? builtinFormat(Number(id)))
  }
  return formats
}
