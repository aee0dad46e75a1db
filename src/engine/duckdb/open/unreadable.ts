import { readFailure } from '../duckdb-failure.js'
import { bindPaths } from '../paths.js'
import type { RunStatement } from '../run-statement.js'

/**
 * Why DuckDB could not read a file, with its class of error: DuckDB's text without the path,
 * because the caller names the file. If memory is short, the file is not at fault, and the text
 * says what to change.
 */
export function unreadableReason(cause: unknown, path: string): string {
  const { type, text } = readFailure(cause)
  if (type === 'Out of Memory') {
    return (
      'reading it takes more memory than is free; give it more (--memory-limit), or write ' +
      'shorter texts and smaller row groups'
    )
  }
  const [line = ''] = text.split('\n')
  const names = [`file '${path}'`, `file "${path}"`, `'${path}'`, `"${path}"`, path]
  const plain = names
    .reduce((rest, name) => rest.replaceAll(name, 'the file'), line)
    .replaceAll(/Parquet (the )?file/g, 'the file')
  return type === null ? plain : `${plain} (${type})`
}

/**
 * True for a file whose columns are encrypted behind a readable footer. Call it only for a file
 * that failed: DuckDB reports encrypted pages as damaged ones.
 */
export async function isEncrypted(run: RunStatement, path: string): Promise<boolean> {
  const sql = 'SELECT encryption_algorithm IS NOT NULL FROM parquet_file_metadata($1)'
  try {
    const [[found] = []] = await run({ sql, values: [bindPaths([path])] })
    return found === true
  } catch (cause) {
    // The footer is signed: the name of the key is bytes, which DuckDB reads as text.
    return readFailure(cause).text.includes('Invalid unicode')
  }
}
