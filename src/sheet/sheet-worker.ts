import { answerCalls } from '../call-thread.js'
import { textsOf } from '../row-texts.js'
import { excelCsv } from './excel-csv.js'
import type { Sheet } from './sheet.js'
import { workbook } from './workbook.js'

// The thread of `sheet-writer.ts`.

answerCalls(async ({ format, tables, about }: Sheet): Promise<Uint8Array> => {
  const read = tables.map(({ lines, ...table }) => {
    const texts = new TextDecoder().decode(lines).split('\n').slice(0, -1)
    return { ...table, rows: texts.map((text) => textsOf(text).cells) }
  })
  if (format === 'xlsx') return workbook(read, about)
  const [{ columns, rows } = { columns: [], rows: [] }] = read
  return excelCsv(format === 'csv-semicolon' ? ';' : ',', columns, rows)
})
