import type { DataFile, Version } from '../version.js'
import type { PackOrder, StoredColumn } from './packer.js'

/** The order to pack a version's files by its declared key. Only the server reads search files. */
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
    search: isNamedByContent ? searchedColumns(version) : [],
    target,
    isNamedByContent,
    memoryLimitBytes,
  }
}

/** The columns of a version that need search files, by their names in the files. */
export function searchedColumns({ columns }: Pick<Version, 'columns'>): readonly string[] {
  return columns.filter(({ searched }) => searched).map(({ source }) => source)
}

/** Whether a searched column of a packed version has no search file yet. */
export function lacksSearch(version: Version | null): boolean {
  const written = new Set(version?.search.map(({ column }) => column))
  return version !== null && searchedColumns(version).some((column) => !written.has(column))
}

/** One list of columns for all files of a layout: there may be thousands of files. */
function columnLists({ files }: Version): ReadonlyMap<DataFile['types'], readonly StoredColumn[]> {
  const types = new Set(files.map((file) => file.types))
  return new Map(
    [...types].map((each) => [each, [...each].map(([name, type]) => ({ name, type }))]),
  )
}
