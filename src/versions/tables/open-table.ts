import { openCsv } from './csv-table.js'
import { openExcel } from './excel-table.js'
import { openNdjson } from './ndjson-table.js'
import type { Table, TableOptions } from './table.js'
import type { TableFile } from './table-file.js'

/**
 * Opens a table for reading. `shown` names the file in messages.
 * @throws TableError; bad_request for options that are not of the format
 */
export async function openTable(
  path: string,
  shown: string,
  { format }: TableFile,
  options: TableOptions,
): Promise<Table> {
  switch (format) {
    case 'CSV':
      return await openCsv(path, shown, options)
    case 'Excel':
      return await openExcel(path, shown, options)
    case 'NDJSON':
      return await openNdjson(path, shown, options)
  }
}
