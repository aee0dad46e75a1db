import type { DataFile, Version } from '../version.js'
import type { PackOrder, StoredColumn } from './packer.js'

/** The order to pack a version's files by its declared key. */
export function packOrder(
  version: Version,
  target: string,
  isNamedByContent: boolean,
  memoryLimitBytes: number | null,
): PackOrder {
  const lists = columnLists(version)
  return {
    dataset: version.dataset,
    files: version.files.map(({ path, guard, rows, types, partition }) => ({
      path,
      identity: guard,
      rows,
      columns: lists.get(types) ?? [],
      partition: Object.fromEntries(partition),
    })),
    columns: version.columns.map(({ source, type }) => ({ name: source, type })),
    key: version.key.map(({ source }) => source),
    target,
    isNamedByContent,
    memoryLimitBytes,
  }
}

/** One list of columns for all files of a layout: there may be thousands of files. */
function columnLists({ files }: Version): ReadonlyMap<DataFile['types'], readonly StoredColumn[]> {
  const types = new Set(files.map((file) => file.types))
  return new Map(
    [...types].map((each) => [each, [...each].map(([name, type]) => ({ name, type }))]),
  )
}
