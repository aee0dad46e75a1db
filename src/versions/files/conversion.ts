/** A table in another format, by the end of its name, and the command that converts it. */
export interface Conversion {
  /** `CSV` */
  readonly format: string
  /** The name of the Parquet file that the command writes. */
  readonly target: string
  /** A command line for the DuckDB program. */
  readonly command: string
}

interface TableReader {
  readonly format: string
  readonly name: string
  /** SQL to run before it. */
  readonly first?: string
}

const readers: Readonly<Record<string, TableReader>> = {
  csv: { format: 'CSV', name: 'read_csv' },
  tsv: { format: 'TSV', name: 'read_csv' },
  json: { format: 'JSON', name: 'read_json' },
  ndjson: { format: 'NDJSON', name: 'read_json' },
  jsonl: { format: 'NDJSON', name: 'read_json' },
  xlsx: { format: 'an Excel workbook', name: 'read_xlsx', first: 'INSTALL excel; LOAD excel; ' },
}

/** How to convert the file at this path; null if its name does not tell a known format. */
export function conversionOf(path: string): Conversion | null {
  const [, stem = '', ending = ''] = /^(.*?)\.(\w+)(?:\.gz)?$/s.exec(path) ?? []
  const reader = Object.hasOwn(readers, ending.toLowerCase())
    ? readers[ending.toLowerCase()]
    : undefined
  if (!reader || stem === '') return null
  const target = `${stem}.parquet`
  const rows = `FROM ${reader.name}(${sqlText(path)})`
  const sql = `${reader.first ?? ''}COPY (${rows}) TO ${sqlText(target)}`
  return { format: reader.format, target, command: `duckdb -c ${shellText(sql)}` }
}

function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** In double quotes, because SQL uses single ones. */
function shellText(text: string): string {
  return `"${text.replace(/[\\"$`]/g, '\\$&')}"`
}
