import type { TableFormat } from './table.js'

/** A file in a format that `das dataset add` writes as Parquet, by the end of its name. */
export interface TableFile {
  readonly format: TableFormat
  /** The name of the Parquet file. */
  readonly target: string
}

const endings: Readonly<Record<string, TableFormat>> = {
  csv: 'CSV',
  tsv: 'CSV',
  xlsx: 'Excel',
  ndjson: 'NDJSON',
  jsonl: 'NDJSON',
  json: 'NDJSON',
}

/** The format of the file at this path; null if its name does not tell a known one. */
export function tableFileOf(path: string): TableFile | null {
  const [, stem = '', ending = '', packed = ''] = /^(.*?)\.(\w+)(\.gz)?$/is.exec(path) ?? []
  const name = ending.toLowerCase()
  const format = Object.hasOwn(endings, name) ? endings[name] : undefined
  if (!format || stem === '' || stem.endsWith('/')) return null
  if (format === 'Excel' && packed !== '') return null
  return { format, target: `${stem}.parquet` }
}
