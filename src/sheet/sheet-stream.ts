import { Zip, ZipDeflate } from 'fflate'
import { getCellAddress } from 'write-excel-file/utility'
import { cutText, firstDayMs, sheetMax, xmlText } from './sheet-text.js'

/** A cell of a sheet; `text` is what JSON has, without quotes. */
export interface StreamCell {
  readonly kind: 'number' | 'boolean' | 'date' | 'text'
  readonly text: string
  /** Of a date or time that comes from a workbook: its number there. */
  readonly serial?: string
}

const encoder = new TextEncoder()
const dayMs = 24 * 3_600_000
const lettersAtOnce = 256 * 1024
/** Day 0 of a spreadsheet. */
const zeroDayMs = Date.UTC(1899, 11, 30)
/** Longer whole numbers are shown with an exponent, if the format does not say otherwise. */
const plainDigitsMax = 11

/** Places in the styles: whole numbers, texts, days, instants, times, durations. */
const styles = { general: 0, whole: 1, text: 2, day: 3, instant: 4, time: 5, hours: 6 } as const
const formats = [0, 1, 49, 164, 165, 21, 46]

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const relations = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'

const partsOf = (name: string): Readonly<Record<string, string>> => ({
  '[Content_Types].xml':
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
    '<Default Extension="rels" ' +
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
  '_rels/.rels':
    `<Relationships ${relations}><Relationship Id="rId1" Type="${office}/officeDocument" ` +
    'Target="xl/workbook.xml"/></Relationships>',
  'xl/workbook.xml':
    `<workbook ${main} xmlns:r="${office}"><sheets>` +
    `<sheet name="${xmlText(name).replaceAll('"', '&quot;')}" sheetId="1" r:id="rId1"/>` +
    '</sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    `<Relationships ${relations}>` +
    `<Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml':
    `<styleSheet ${main}><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
    '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
    '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>' +
    '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
    '<fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border/></borders>' +
    '<cellStyleXfs count="1"><xf/></cellStyleXfs>' +
    `<cellXfs count="${formats.length}">` +
    formats.map((id) => `<xf numFmtId="${id}" applyNumberFormat="1"/>`).join('') +
    '</cellXfs></styleSheet>',
})

/**
 * Writes a workbook of one sheet row by row, in as much memory as a few rows take. A text is never
 * run as a formula; one that is longer than Excel opens is cut, and `cuts` counts it.
 */
export function sheetStream(name: string, write: (bytes: Uint8Array) => void) {
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    write(bytes)
  })
  for (const [part, text] of Object.entries(partsOf(name))) {
    const file = new ZipDeflate(part)
    zip.add(file)
    file.push(encoder.encode(head + text), true)
  }
  const sheet = new ZipDeflate('xl/worksheets/sheet1.xml', { level: 3 })
  zip.add(sheet)
  let text = `${head}<worksheet ${main}><sheetData>`
  const stream = {
    cuts: 0,
    /** @throws Error for a row, counted from 1, or a column that Excel can't open */
    row: (line: number, cells: readonly (StreamCell | null)[]) => {
      if (line > sheetMax.rows) {
        throw new Error(`XLSX holds ${sheetMax.rows} rows: save the list as CSV.`)
      }
      if (cells.length > sheetMax.columns) {
        throw new Error(`XLSX holds ${sheetMax.columns} columns.`)
      }
      const cut = (long: string) => {
        stream.cuts += 1
        return cutText(long)
      }
      text += `<row r="${line}">`
      cells.forEach((cell, at) => {
        if (cell) text += cellXml(getCellAddress(line - 1, at), cell, cut)
      })
      text += '</row>'
      if (text.length < lettersAtOnce) return
      sheet.push(encoder.encode(text))
      text = ''
    },
    end: () => {
      sheet.push(encoder.encode(`${text}</sheetData></worksheet>`), true)
      zip.end()
    },
  }
  return stream
}

function cellXml(at: string, cell: StreamCell, cut: (long: string) => string): string {
  const { kind, text, serial } = cell
  if (kind === 'boolean') return `<c r="${at}" t="b"><v>${text === 'true' ? 1 : 0}</v></c>`
  if (kind === 'number') {
    const isLong = /^-?\d+$/.test(text) && text.length > plainDigitsMax
    return `<c r="${at}" s="${isLong ? styles.whole : styles.general}"><v>${text}</v></c>`
  }
  if (serial !== undefined) return `<c r="${at}" s="${styleOf(text, serial)}"><v>${serial}</v></c>`
  const [, day, time] = (kind === 'date' ? instant.exec(text) : null) ?? []
  const ms = day === undefined ? NaN : Date.parse(`${day}T${time ?? '00:00:00'}Z`)
  if (ms >= firstDayMs) {
    const style = time === undefined ? styles.day : styles.instant
    return `<c r="${at}" s="${style}"><v>${(ms - zeroDayMs) / dayMs}</v></c>`
  }
  const short = text.length > sheetMax.cellLetters ? cut(text) : text
  const content = `<is><t xml:space="preserve">${xmlText(short)}</t></is>`
  return `<c r="${at}" s="${styles.text}" t="inlineStr">${content}</c>`
}

/** The style that shows a number of a workbook like `text`: 30:05:00, 08:05:00, 2024-02-29. */
function styleOf(text: string, serial: string): number {
  if (text.includes(' ')) return styles.instant
  if (!text.includes(':')) return styles.day
  return Number(serial) < 1 ? styles.time : styles.hours
}

/** What a date of a spreadsheet can hold. */
const instant = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d(?:\.\d{1,3})?)Z?)?$/
