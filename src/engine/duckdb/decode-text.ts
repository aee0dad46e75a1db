import { textDecoder } from '@duckdb/node-api/lib/vectors/dataAccessors.js'

/**
 * Lets the DuckDB package read every text whole. Its decoder drops a U+FEFF at the start as a byte
 * order mark: bounds of a file were those of other texts, and look-ups passed the file by.
 */
export function keepByteOrderMarks(): void {
  const whole = new TextDecoder('utf-8', { ignoreBOM: true })
  textDecoder.decode = whole.decode.bind(whole)
}
