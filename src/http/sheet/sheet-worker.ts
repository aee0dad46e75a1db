import { parentPort } from 'node:worker_threads'
import { textsOf } from '../../query/row-texts.js'
import { excelCsv } from './excel-csv.js'
import type { FromSheetWriter, ToSheetWriter } from './sheet-writer.js'
import type { Sheet } from './sheet.js'
import { workbook } from './workbook.js'

// The thread of `sheet-writer.ts`: requests do not wait while it writes a file.

parentPort?.on('message', ({ id, sheet }: ToSheetWriter) => {
  const send = (message: FromSheetWriter) => parentPort?.postMessage(message)
  fileOf(sheet).then(
    (file) => {
      send({ id, file })
    },
    (cause: unknown) => {
      send({ id, failure: String(cause) })
    },
  )
})

async function fileOf({ format, name, columns, lines }: Sheet): Promise<Uint8Array> {
  const texts = new TextDecoder().decode(lines).split('\n').slice(0, -1)
  const rows = texts.map((text) => textsOf(text).cells)
  if (format === 'xlsx') return workbook(name, columns, rows)
  return excelCsv(format === 'csv-semicolon' ? ';' : ',', columns, rows)
}
