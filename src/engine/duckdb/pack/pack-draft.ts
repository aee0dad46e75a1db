import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { typeText } from '../../../columns/data-type.js'
import { identityOf } from '../../../versions/files/source-files.js'
import { FileError } from '../../../versions/opener.js'
import { packRecordName, readPackRecord } from '../../../versions/packing/pack-record.js'
import type { FinishedFile, PackRecord } from '../../../versions/packing/pack-record.js'
import { PackError, draftOf } from '../../../versions/packing/packer.js'
import type { PackOrder, PackedFile, StoredColumn } from '../../../versions/packing/packer.js'
import type { PackLayout } from './pack-layout.js'

/** Increase it when the layout of drafts changes, so that old drafts are not used. */
const format = 1

/**
 * The folder beside the target for packed files in progress. Its `pack.json` names their sources
 * and the finished files. It moves into the target with them, so that the next pack recognises the
 * folder as one of the dataset's.
 */
export class PackDraft {
  readonly folder: string
  readonly #order: PackOrder
  readonly #identity: string
  readonly #files: Map<string, FinishedFile>

  private constructor(order: PackOrder, identity: string, files: readonly FinishedFile[]) {
    this.folder = draftOf(order.target)
    this.#order = order
    this.#identity = identity
    this.#files = new Map(files.map((file) => [file.name, file]))
  }

  /**
   * Keeps the files that an earlier try with the same sources finished; removes everything else.
   */
  static async open(order: PackOrder, layout: PackLayout): Promise<PackDraft> {
    const identity = await identityOfOrder(order, layout)
    const folder = draftOf(order.target)
    const page = await readPackRecord(folder)
    const isSame = page?.identity === identity
    if (!isSame) await rm(folder, { recursive: true, force: true })
    await mkdir(join(folder, 'tmp'), { recursive: true })
    const draft = new PackDraft(order, identity, isSame ? page.files : [])
    await draft.#removeUnfinished()
    await draft.save()
    return draft
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  finished(name: string): FinishedFile | undefined {
    return this.#files.get(name)
  }

  add(file: FinishedFile): void {
    this.#files.set(file.name, file)
  }

  forget(name: string): void {
    this.#files.delete(name)
  }

  /** Call it when files are on the disk: the next try will not write them again. */
  async save(): Promise<void> {
    const page: PackRecord = {
      dataset: this.#order.dataset,
      identity: this.#identity,
      files: [...this.#files.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    }
    const path = this.path(packRecordName)
    await using file = await open(`${path}.part`, 'w')
    await file.writeFile(`${JSON.stringify(page, null, 1)}\n`)
    await file.sync()
    await rename(`${path}.part`, path)
  }

  /** @throws PackError if a source has changed since the start */
  async requireSameSources(layout: PackLayout): Promise<void> {
    if ((await identityOfOrder(this.#order, layout)) === this.#identity) return
    throw new PackError('A file was replaced while it was packed. Pack again.')
  }

  /** The size of the finished files. */
  async sizeBytes(): Promise<number> {
    let sum = 0
    for (const name of this.#files.keys()) {
      sum += (await stat(this.path(name)).catch(() => undefined))?.size ?? 0
    }
    return sum
  }

  /** Syncs a file to the disk, before `save`. */
  sync(name: string): Promise<void> {
    return sync(this.path(name))
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Renames the draft to the target and syncs it to the disk. */
  async finish(names: readonly string[]): Promise<void> {
    for (const name of await readdir(this.folder)) {
      const isKept = name === packRecordName || names.includes(name)
      if (!isKept) await rm(this.path(name), { recursive: true, force: true })
    }
    for (const name of [...names, packRecordName]) await sync(this.path(name))
    await sync(this.folder)
    const { target } = this.#order
    const old = `${target}.old`
    await rm(old, { recursive: true, force: true })
    await rename(target, old).catch(ignoreMissing)
    await rename(this.folder, target)
    await sync(dirname(target))
    await rm(old, { recursive: true, force: true })
  }

  /** Removes files that an interrupted try left. */
  async #removeUnfinished(): Promise<void> {
    for (const name of await readdir(this.folder)) {
      if (name === packRecordName || name === planName || this.#files.has(name)) continue
      await rm(this.path(name), { recursive: true, force: true })
    }
    await mkdir(this.path('tmp'))
  }
}

/** The file that holds the order of all rows; it is complete whenever it exists. */
export const planName = 'plan.parquet'

/**
 * The target's files if it already is a pack of the same sources, else null.
 * @throws PackError for a folder that is not a pack of this dataset
 */
export async function packedBefore(
  order: PackOrder,
  layout: PackLayout,
): Promise<readonly PackedFile[] | null> {
  const { target, dataset } = order
  if (!(await stat(target).catch(() => undefined))) return null
  const page = await readPackRecord(target)
  if (page?.dataset !== dataset) {
    throw new PackError(`The target folder already exists and is not a pack of "${dataset}".`)
  }
  if (page.identity !== (await identityOfOrder(order, layout))) return null
  const files = page.files.map(({ name, rows }) => ({ path: join(target, name), rows }))
  for (const { path } of files) if (!(await stat(path).catch(() => undefined))) return null
  return files
}

/** A hash of sources and layout: equal hashes have equal results. */
async function identityOfOrder(order: PackOrder, layout: PackLayout): Promise<string> {
  const hash = createHash('sha256')
  const add = (value: unknown) => hash.update(`${JSON.stringify(value)}\n`)
  const columns = (list: readonly StoredColumn[]) => list.map((c) => [c.name, typeText(c.type)])
  add([format, layout, order.dataset, order.key, columns(order.columns)])
  for (const { path, rows, columns: stored, partition } of order.files) {
    const found = await stat(path, { bigint: true }).catch((cause: unknown) => {
      throw new FileError(path, "can't be read", cause)
    })
    add([path, identityOf(found), rows, columns(stored), Object.entries(partition)])
  }
  return hash.digest('hex')
}

async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}

function ignoreMissing(cause: NodeJS.ErrnoException): void {
  if (cause.code !== 'ENOENT') throw cause
}
