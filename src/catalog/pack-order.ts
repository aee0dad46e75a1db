import type { PackOrder } from './packer.js'
import type { Version } from './version.js'

/** The order to pack a version's files, each where the version has it, by its declared key. */
export function packOrder(
  version: Version,
  target: string,
  memoryLimitBytes: number | null,
): PackOrder {
  return {
    dataset: version.dataset,
    files: version.files.map(({ path, rows, types }) => ({
      path,
      rows,
      columns: [...types].map(([name, type]) => ({ name, type })),
      partition: {},
    })),
    columns: version.columns.map(({ source, type }) => ({ name: source, type })),
    key: version.key.map(({ source }) => source),
    target,
    memoryLimitBytes,
  }
}
