import { createHash } from 'node:crypto'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { typeText } from '../../columns/data-type.js'
import type { ContentFile, ContentForms, DroppedContent } from '../files/build-version.js'
import { identityOf } from '../files/find-files.js'
import type { SourceFile } from '../files/source-files.js'
import { inBatches } from '../in-batches.js'
import { searchName } from '../packing/pack-record.js'
import type { ColumnFit, FileColumn, OpenedFile, TextBounds } from '../opener.js'
import type { SearchFile } from '../version.js'

/** The description of a published folder, enough to serve it again without reading its files. */
export interface Manifest {
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  /** False if an earlier build opened the files, and looked at less. */
  readonly isCurrent: boolean
  /** In stored order. */
  readonly files: readonly ContentFile[]
  /** For a packed folder: its search files. */
  readonly search: readonly SearchFile[]
  /** The columns, by their names in the files, whose bounds were read. */
  readonly boundsOf: readonly string[]
  /** For a packed folder: the source files that it was made from. */
  readonly origins: readonly Origin[] | null
  /** For a packed folder: where these source files are published, and which keep their order. */
  readonly dropped: Omit<DroppedContent, 'files'> | null
}

/** A dataset's files, published and opened. */
export interface Content
  extends Omit<Manifest, 'publishedAt' | 'isCurrent' | 'dropped'>, ContentForms {
  /** Where they are published; null if they are read in place. */
  readonly folder: string | null
}

/** The folders of published content. */
export function foldersOf(content: Content | null): readonly string[] {
  return [content?.folder ?? [], content?.dropped?.folder ?? []].flat()
}

/** What identifies a source file and its content. */
export type Origin = Pick<SourceFile, 'identity' | 'contentHash'>

interface StoredFile {
  readonly source: Omit<SourceFile, 'path' | 'realPath' | 'stamp'>
  readonly file: string
  readonly guard: string | null
  /** Earlier builds left it out: a link or copy has its source's hash. */
  readonly hash?: string | null
  readonly rows: number
  /** Index into `layouts`, which files share. */
  readonly layout: number
  readonly bounds: Readonly<Record<string, TextBounds | null>>
  /** Left out = no column was asked. */
  readonly fits?: Readonly<Record<string, ColumnFit>>
}

interface StoredManifest {
  readonly publishedAt: number
  /** How much the files were looked at. Earlier builds left it out. */
  readonly look?: number
  /** Earlier builds left it out. */
  readonly search?: readonly (Omit<SearchFile, 'path'> & { readonly file: string })[]
  readonly layouts: readonly (readonly FileColumn[])[]
  readonly files: readonly StoredFile[]
  readonly boundsOf: readonly string[]
  readonly origins: readonly Origin[] | null
  /** The folder's name beside this one. Earlier builds left it out. */
  readonly dropped?: { readonly folder: string; readonly inOrder: readonly number[] } | null
}

const fileName = 'manifest.json'
/** Changes with the meaning of the content; folders in another format are opened again. */
const format = 1
/** Changes when files are looked at more: those with another are served, and opened again. */
const look = 2

/** Writes a folder's manifest atomically and durably. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const body = JSON.stringify(storedManifest(manifest))
  const path = join(folder, fileName)
  await using file = await open(`${path}.draft`, 'w', 0o600)
  await file.writeFile(`${format} ${sumOf(body)}\n${body}`)
  await file.sync()
  await rename(`${path}.draft`, path)
}

/** The manifest of a folder; undefined if it is missing or invalid. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, fileName), 'utf8').catch(() => '')
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  if (end < 0 || text.slice(0, end) !== `${format} ${sumOf(body)}`) return undefined
  // The checksum proves that `writeManifest` wrote this.
  return manifestOf(folder, JSON.parse(body) as StoredManifest)
}

/** Whether every file has its published size and, as a link, its source's identity. */
export async function isIntact(manifest: Pick<Manifest, 'files' | 'search'>): Promise<boolean> {
  const files = manifest.files.map(({ source, ...file }) => {
    return { ...file, sizeBytes: source.sizeBytes }
  })
  const intact = await inBatches([...files, ...manifest.search], async (file) => {
    const { path, guard, sizeBytes } = file
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    if (!found || Number(found.size) !== sizeBytes) return false
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
      ...(opened.fits && { fits: Object.fromEntries(opened.fits) }),
    }
  })
  const origins =
    manifest.origins?.map(({ identity, contentHash }) => ({ identity, contentHash })) ?? null
  const { publishedAt, isCurrent, boundsOf, dropped } = manifest
  const search = manifest.search.map(({ path, ...file }) => ({ ...file, file: basename(path) }))
  return {
    publishedAt,
    ...(isCurrent && { look }),
    boundsOf,
    origins,
    search,
    dropped: dropped && { folder: basename(dropped.folder), inOrder: dropped.inOrder },
    layouts: [...layouts.values()].map(({ columns }) => columns),
    files,
  }
}

function layoutKey({ columns }: OpenedFile): string {
  return JSON.stringify(
    columns.map(({ name, type, required, marks }) => [name, typeText(type), required, marks]),
  )
}

function manifestOf(folder: string, stored: StoredManifest): Manifest {
  const { layouts, look: given, dropped = null, search = [], ...rest } = stored
  const files = stored.files.map(
    ({ source, file, guard, rows, layout, bounds, fits, ...rest }): ContentFile => {
      const path = join(folder, file)
      const opened = {
        rows,
        columns: layouts[layout] ?? [],
        bounds: new Map(Object.entries(bounds)),
      }
      return {
        source: { ...source, path, realPath: path },
        path,
        guard,
        hash: rest.hash ?? (stored.origins ? null : source.contentHash),
        opened: fits ? { ...opened, fits: new Map(Object.entries(fits)) } : opened,
      }
    },
  )
  const folderOf = (name: string) => join(dirname(folder), name)
  const named = dropped && { ...dropped, folder: folderOf(dropped.folder) }
  const usable = search.filter(({ column, file }) => file === searchName(column))
  const searchFiles = usable.map(({ file, ...each }) => ({ ...each, path: join(folder, file) }))
  const isCurrent = given === look
  return { ...rest, isCurrent, files, search: searchFiles, dropped: named }
}
