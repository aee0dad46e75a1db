import { createHash } from 'node:crypto'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { typeText } from '../../columns/data-type.js'
import type { ContentFile, OpenedContent } from '../files/build-version.js'
import { identityOf } from '../files/find-files.js'
import type { SourceFile } from '../files/source-files.js'
import { inBatches } from '../in-batches.js'
import type { ColumnFit, FileColumn, OpenedFile, TextBounds } from '../opener.js'

/** The description of a published folder, enough to serve it again without reading its files. */
export interface Manifest {
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  /** False if an earlier build opened the files, and looked at less. */
  readonly isCurrent: boolean
  /** In stored order. */
  readonly files: readonly ContentFile[]
  /** The columns, by their names in the files, whose bounds were read. */
  readonly boundsOf: readonly string[]
}

/** A dataset's files, published and opened. */
export interface Content extends Omit<Manifest, 'publishedAt' | 'isCurrent'>, OpenedContent {
  /** Where they are published; null if they are read in place. */
  readonly folder: string | null
}

/** The folder that files are published in, as a list. */
export function foldersOf(content: Content | null): readonly string[] {
  return content?.folder ? [content.folder] : []
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
  readonly layouts: readonly (readonly FileColumn[])[]
  readonly files: readonly StoredFile[]
  readonly boundsOf: readonly string[]
  /** Left out or null, unless an earlier build packed the folder's rows in another order. */
  readonly origins?: unknown
  /** Beside such a folder, the one of the files that it was packed from. */
  readonly dropped?: { readonly folder: string } | null
}

const fileName = 'manifest.json'
/** Changes with the meaning of the content; folders in another format are opened again. */
const format = 1
/** Changes when files are looked at more: those with another are served, and opened again. */
const look = 3

/** Writes a folder's manifest atomically and durably. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const body = JSON.stringify(storedManifest(manifest))
  const path = join(folder, fileName)
  const text = `${format} ${sumOf(body)}\n${body}`
  await writeFile(`${path}.draft`, text, { mode: 0o600, flush: true })
  await rename(`${path}.draft`, path)
}

/** The manifest of a folder; undefined if it is missing, invalid or of an old packed copy. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const stored = await readStored(folder)
  return stored && !stored.origins ? manifestOf(folder, stored) : undefined
}

/** The folder of the files that an earlier build packed into this one; undefined for others. */
export async function packedFrom(folder: string): Promise<string | undefined> {
  const { origins, dropped } = (await readStored(folder)) ?? {}
  return origins && dropped ? join(dirname(folder), dropped.folder) : undefined
}

async function readStored(folder: string): Promise<StoredManifest | undefined> {
  const text = await readFile(join(folder, fileName), 'utf8').catch(() => '')
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  if (end < 0 || text.slice(0, end) !== `${format} ${sumOf(body)}`) return undefined
  // The checksum proves that `writeManifest` wrote this.
  return JSON.parse(body) as StoredManifest
}

/**
 * The files of a manifest, each with its published size and, as a link, its source's identity; in
 * place of another one its pages, which have the same rows. Null if there are none.
 */
export async function intactFiles(
  { files }: Pick<Manifest, 'files'>,
  pagesOf: (file: ContentFile) => Promise<ContentFile | null>,
): Promise<readonly ContentFile[] | null> {
  const intact = await inBatches(files, async (file) => {
    const { path, guard, source } = file
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    const isWhole = found && Number(found.size) === source.sizeBytes
    const isSame = isWhole && (guard === null || identityOf(found) === guard)
    return isSame ? file : pagesOf(file)
  })
  const whole = intact.filter((file) => file !== null)
  return whole.length === files.length ? whole : null
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
  const { publishedAt, isCurrent, boundsOf } = manifest
  return {
    publishedAt,
    ...(isCurrent && { look }),
    boundsOf,
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
  const { layouts, look: given, publishedAt, boundsOf } = stored
  const files = stored.files.map(
    ({ source, file, guard, hash, rows, layout, bounds, fits }): ContentFile => {
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
        hash: hash ?? source.contentHash,
        opened: fits ? { ...opened, fits: new Map(Object.entries(fits)) } : opened,
      }
    },
  )
  return { publishedAt, boundsOf, isCurrent: given === look, files }
}
