import { readFailure } from '../duckdb-failure.js'
import { bindPaths } from '../paths.js'
import type { Ask } from './read-bounds.js'

/**
 * What DuckDB could not do with a file, with its class of error: its own words without the path,
 * which the owner's terminal names in its own way. Empty memory is no fault of the file: then it
 * says what would help.
 */
export function unreadableWords(cause: unknown, path: string): string {
  const { type, text } = readFailure(cause)
  if (type === 'Out of Memory') {
    return (
      'reading it takes more memory than there is; give it more (--memory-limit), or write ' +
      'shorter texts and smaller row groups'
    )
  }
  const [words = ''] = text.split('\n')
  const names = [`file '${path}'`, `file "${path}"`, `'${path}'`, `"${path}"`, path]
  const plain = names.reduce((rest, name) => rest.replaceAll(name, 'the file'), words)
  return type === null ? plain : `${plain} (${type})`
}

/**
 * True for a file whose columns are encrypted behind a readable footer. To be asked of files that
 * failed: DuckDB takes the encrypted pages for damaged ones.
 */
export async function isEncrypted(ask: Ask, path: string): Promise<boolean> {
  const sql = 'SELECT encryption_algorithm IS NOT NULL FROM parquet_file_metadata($1)'
  try {
    const [[found] = []] = await ask(sql, bindPaths([path]))
    return found === true
  } catch (cause) {
    // The footer is signed: the name of the key is made of bytes, which DuckDB takes for text.
    return readFailure(cause).text.includes('Invalid unicode')
  }
}
