import { openFileRecords } from './file-records.js'
import type { Records, RecordsParts } from './file-records.js'
import { openSharedRecords } from './shared-records.js'

/**
 * Opens the records of a server: control.db in its state folder, or the PostgreSQL at `url`.
 * @throws Error, for the operator, when they can't be used
 */
export async function openRecords(
  url: string | null,
  folder: string,
  parts: RecordsParts,
): Promise<Records> {
  return url === null ? openFileRecords(folder, parts) : await openSharedRecords(url, folder, parts)
}
