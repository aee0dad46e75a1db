import { tableName } from '../remote-table.js'
import type { OpenedTable, RemoteTable } from '../remote-table.js'
import type { OpenedContent } from './build-version.js'

/** A table as the content of a version: one part, which no path names. */
export function tableContent(table: RemoteTable, opened: OpenedTable): OpenedContent {
  const name = tableName(table)
  const { state, modifiedMs } = opened
  const source = {
    path: '',
    realPath: '',
    name,
    identity: state,
    sizeBytes: 0,
    modifiedMs,
    contentHash: state,
  }
  const files = [{ source, path: '', guard: null, hash: null, opened }]
  return { files, table }
}
