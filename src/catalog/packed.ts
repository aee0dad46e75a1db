import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { contentIdOf } from './publish.js'
import type { SourceFile } from './source-files.js'

/** Another text when `pack` lays files out anew: then every version is packed again. */
const layoutName = 'packed-1'

/**
 * The folder of these files' packed form, whether or not it is there. Its name comes from content
 * and key alone, and packing keeps equal keys in stored order, so two servers over the same files
 * serve the same rows at the same positions.
 */
export function packedFolder(
  parent: string,
  sources: readonly Pick<SourceFile, 'contentHash' | 'name'>[],
  key: readonly string[],
): string {
  return join(parent, idOf(layoutName, contentIdOf(sources), ...key))
}

/** What a packed file is known by: its place among those made from this content. */
export function packedHash(folder: string, index: number): string {
  return idOf(basename(folder), String(index))
}

function idOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}
