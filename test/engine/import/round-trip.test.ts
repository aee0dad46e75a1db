import fc from 'fast-check'
import t from 'tap'
import { importFile } from '../fixtures/imported.js'
import { runs } from '../../support/runs.js'

// Guarantee: what was written to a CSV file, in any dialect, is what the Parquet file holds.

interface Dialect {
  readonly separator: string
  readonly lineBreak: string
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  readonly hasMark: boolean
  readonly quotesAll: boolean
  readonly endsWithBreak: boolean
}

const dialects: fc.Arbitrary<Dialect> = fc.record({
  separator: fc.constantFrom(',', ';', '\t', '|'),
  lineBreak: fc.constantFrom('\n', '\r\n', '\r'),
  encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
  hasMark: fc.boolean(),
  quotesAll: fc.boolean(),
  endsWithBreak: fc.boolean(),
})

const piece = fc.constantFrom('"', ',', ';', '\t', '|', '\n', '\r\n', ' ', '0', 'я', '\u{1f600}')
const digits = fc.integer({ min: -1e9, max: 1e9 })
/** Texts of one kind, for one column; an empty text is an empty value. */
const kinds: readonly fc.Arbitrary<string>[] = [
  fc.string({ unit: piece, maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll('\0', '')),
  digits.map(String),
  fc.tuple(digits, fc.nat(9999)).map(([whole, part]) => `${whole}.${part}`),
  fc.tuple(digits, fc.nat(9999)).map(([whole, part]) => `${whole},${part}`),
  fc.bigInt({ min: 0n, max: 10n ** 25n }).map(String),
  fc.double().map(String),
  fc.constantFrom('true', 'false'),
  fc.constantFrom('007', '1e5', 'NULL', 'NaN', '-0', '1 234', '+1', '#x'),
  fc
    .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
]

const columns = fc.constantFrom(...kinds).map((cell) => fc.oneof(cell, fc.constant('')))
const tables = fc
  .array(columns, { minLength: 1, maxLength: 5 })
  .chain((cells) => fc.array(fc.tuple(...cells), { minLength: 1, maxLength: 20 }))

function written(rows: readonly (readonly string[])[], dialect: Dialect): Uint8Array {
  const { separator, lineBreak, encoding, hasMark, quotesAll, endsWithBreak } = dialect
  const cellText = (cell: string) =>
    (quotesAll && cell !== '') || cell.includes(separator) || /^"|[\r\n]/.test(cell)
      ? `"${cell.replaceAll('"', '""')}"`
      : cell
  const lines = rows.map((row) => row.map(cellText).join(separator))
  const text = lines.join(lineBreak) + (endsWithBreak || lines.at(-1) === '' ? lineBreak : '')
  // UTF-16 without a mark is recognised by its zeros only.
  const mark = hasMark || encoding !== 'utf-8' ? '\ufeff' : ''
  if (encoding === 'utf-8') return Buffer.from(mark + text)
  const bytes = Buffer.from(mark + text, 'utf16le')
  return encoding === 'utf-16be' ? bytes.swap16() : bytes
}

/** A value as the text of its column's type. */
function expected(cell: string, type: string): string | null {
  if (cell === '') return null
  const [, scaleText] = /^DECIMAL\(\d+,(\d+)\)$/.exec(type) ?? []
  if (scaleText !== undefined) return decimalText(cell.replace(',', '.'), Number(scaleText))
  if (type === 'BIGINT') return String(BigInt(cell))
  return cell
}

function decimalText(text: string, scale: number): string {
  const [whole = '', part = ''] = text.split('.')
  const steps = BigInt(whole + part.padEnd(scale, '0'))
  const sign = steps < 0n ? '-' : ''
  const all = String(steps < 0n ? -steps : steps).padStart(scale + 1, '0')
  return sign + (scale === 0 ? all : `${all.slice(0, -scale)}.${all.slice(-scale)}`)
}

await t.test('a table in any dialect becomes the same table', async (t) => {
  const folder = t.testdir({})
  const check = async (rows: readonly (readonly string[])[], dialect: Dialect) => {
    const names = (rows[0] ?? []).map((_, index) => `c${index}`)
    const options = { separator: dialect.separator }
    const read = await importFile(folder, 'a.csv', written([names, ...rows], dialect), options)
    for (const [at, cells] of rows.entries()) {
      for (const [index, cell] of cells.entries()) {
        const [type = '', value] = [read.types[index], read.rows[at]?.[index] as string | null]
        const isSame =
          type === 'DOUBLE' && value !== null
            ? Object.is(Number(value), Number(cell.replace(',', '.')))
            : value === expected(cell, type)
        if (!isSame) throw new Error(`${JSON.stringify(cell)} became ${value} (${type})`)
      }
    }
    if (read.rows.length !== rows.length) throw new Error(`${read.rows.length} rows`)
  }
  await fc.assert(fc.asyncProperty(tables, dialects, check), { numRuns: runs(40) })
  t.pass('every value is the one that was written')
})
