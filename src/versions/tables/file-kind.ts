const packed = 'unpack it'
const other = 'write it as Parquet or CSV'
const oldExcel = 'save it as .xlsx without a password, or as CSV'

// The first bytes of files have control characters.
/* eslint-disable no-control-regex */

/** Kinds of files by their first bytes, in Latin-1: what each is, and what to do with it. */
const kinds: readonly (readonly [begin: RegExp, what: string, way: string])[] = [
  [/^PK\x03\x04[^]*\[Content_Types\]\.xml/, 'an Office file, as .xlsx', 'give it the ending .xlsx'],
  [/^PK[\x03\x05]/, 'a zip archive', packed],
  [/^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/, 'an Excel file, old (.xls) or with a password', oldExcel],
  [/^\x1f\x8b/, 'packed by gzip', `${packed}, or give it the ending .gz if it is CSV or NDJSON`],
  [/^(\x28\xb5\x2f\xfd|\xfd7zXZ\0|7z\xbc\xaf|Rar!\x1a|\x04\x22\x4d\x18)/, 'packed', packed],
  [/^BZh[1-9](1AY&SY|\x17rE8P\x90)/, 'packed', packed],
  [/^ORC[^]{0,16}[\0-\x08]/, 'an ORC file', other],
  [/^ARROW1\0|^FEA1\0/, 'an Arrow or Feather file', other],
  [/^Obj\x01/, 'an Avro file', other],
  [/^SQLite format 3\0/, 'a database of SQLite', other],
  [/^%PDF-\d/, 'a PDF', other],
  [/^version https:\/\/git-lfs/, 'a pointer of Git LFS, not the file', 'fetch it: git lfs pull'],
  [
    /^(\xef\xbb\xbf)?\s*<(!doctype|(html|head|meta|table|style)[\s>])/i,
    'a web page',
    'get or save the table itself',
  ],
  [/^(\xef\xbb\xbf)?\s*<\?xml/i, 'an XML file', 'save it as .xlsx or CSV'],
]

/** As many first bytes as tell the kind of a file. */
export const kindBytes = 4096

/** What a file is and what to do with it, if its first bytes tell; null for any other. */
export function kindOfFile(head: Uint8Array): string | null {
  const text = Buffer.from(head.subarray(0, kindBytes)).toString('latin1')
  // In UTF-16, letters of ASCII have a zero byte beside them.
  const isWide = /^(\xff\xfe|\xfe\xff|<\0|\0<)/.test(text)
  const begins = isWide ? text.replace(/^(\xff\xfe|\xfe\xff)|\0/g, '') : text
  const [, what, way] = kinds.find(([begin]) => begin.test(begins)) ?? []
  return what === undefined ? null : `is ${what}; ${way}`
}
