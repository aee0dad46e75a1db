import { createHash } from 'node:crypto'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { typeText } from '../../columns/data-type.js'
import type { ContentFile } from '../files/build-version.js'
import { identityOf } from '../files/source-files.js'
import type { SourceFile } from '../files/source-files.js'
import { inBatches } from '../in-batches.js'
import type { FileColumn, OpenedFile, TextBounds } from '../opener.js'

/** What a published folder says of itself: enough to serve it again without reading a file. */
export interface Manifest {
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  /** In stored order. */
  readonly files: readonly ContentFile[]
  /** The columns whose bounds the files were asked for. */
  readonly boundsOf: readonly string[]
  /** For a packed folder: the files that it was made from, as they lay at their source. */
  readonly origins: readonly Origin[] | null
}

/** A source file that need not be read again as long as it is the same. */
export type Origin = Pick<SourceFile, 'identity' | 'contentHash'>

interface StoredFile {
  readonly source: Omit<SourceFile, 'path' | 'realPath' | 'stamp'>
  readonly file: string
  readonly guard: string | null
  /** Earlier builds left it out: what they linked or copied has its source's. */
  readonly hash?: string | null
  readonly rows: number
  /** Index into the layouts: thousands of files share a few. */
  readonly layout: number
  readonly bounds: Readonly<Record<string, TextBounds | null>>
}

interface StoredManifest {
  readonly publishedAt: number
  readonly layouts: readonly (readonly FileColumn[])[]
  readonly files: readonly StoredFile[]
  readonly boundsOf: readonly string[]
  readonly origins: readonly Origin[] | null
}

const fileName = 'manifest.json'
/** Another number when the content's meaning changes: then folders are opened anew. */
const format = 1

/** Writes a folder's manifest, whole or not at all, and to the disk. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const body = JSON.stringify(storedManifest(manifest))
  const path = join(folder, fileName)
  await using file = await open(`${path}.draft`, 'w', 0o600)
  await file.writeFile(`${format} ${sumOf(body)}\n${body}`)
  await file.sync()
  await rename(`${path}.draft`, path)
}

/** The manifest of a folder; undefined where there is none that can be understood. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, fileName), 'utf8').catch(() => '')
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  if (end < 0 || text.slice(0, end) !== `${format} ${sumOf(body)}`) return undefined
  // The sum says that this is what `writeManifest` wrote.
  return manifestOf(folder, JSON.parse(body) as StoredManifest)
}

/** True while every file is what was published: links untouched at their source, copies whole. */
export async function isIntact({ files }: Pick<Manifest, 'files'>): Promise<boolean> {
  const intact = await inBatches(files, async ({ path, guard, source }) => {
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    if (!found || Number(found.size) !== source.sizeBytes) return false
    return guard === null || identityOf(found) === guard
  })
  return intact.every(Boolean)
}

function sumOf(body: string): string {
  return createHash('sha256').update(body).digest('hex')
}

function storedManifest(manifest: Manifest): StoredManifest {
  const layouts = new Map<string, { index: number; columns: readonly FileColumn[] }>()
  const keys = new Map<readonly FileColumn[], string>()
  const files = manifest.files.map(({ source, path, guard, hash, opened }): StoredFile => {
    const { path: _, realPath: __, stamp: ___, ...facts } = source
    const key = keys.get(opened.columns) ?? layoutKey(opened)
    keys.set(opened.columns, key)
    const layout = layouts.get(key) ?? { index: layouts.size, columns: opened.columns }
    layouts.set(key, layout)
    return {
      source: facts,
      file: basename(path),
      guard,
      hash,
      rows: opened.rows,
      layout: layout.index,
      bounds: Object.fromEntries(opened.bounds),
    }
  })
  const origins =
    manifest.origins?.map(({ identity, contentHash }) => ({ identity, contentHash })) ?? null
  return {
    ...manifest,
    origins,
    layouts: [...layouts.values()].map(({ columns }) => columns),
    files,
  }
}

function layoutKey({ columns }: OpenedFile): string {
  return JSON.stringify(columns.map(({ name, type, required }) => [name, typeText(type), required]))
}

function manifestOf(folder: string, stored: StoredManifest): Manifest {
  const { layouts, ...rest } = stored
  const files = stored.files.map(
    ({ source, file, guard, rows, layout, bounds, ...rest }): ContentFile => {
      const path = join(folder, file)
      return {
        source: { ...source, path, realPath: path },
        path,
        guard,
        hash: rest.hash ?? (stored.origins ? null : source.contentHash),
        opened: { rows, columns: layouts[layout] ?? [], bounds: new Map(Object.entries(bounds)) },
      }
    },
  )
  return { ...rest, files }
}
