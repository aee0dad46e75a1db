import { createHash } from 'node:crypto'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { typeText } from '../../../columns/data-type.js'
import { giveToFolderOwner, makePrivateFolder } from '../../../control/store/private-file.js'
import { ServerLock } from '../../../control/store/server-lock.js'
import { identityOf } from '../../../versions/files/find-files.js'
import { FileError } from '../../../versions/opener.js'
import {
  packFormat,
  packRecordName,
  readPackRecord,
  writePackRecord,
} from '../../../versions/packing/pack-record.js'
import type {
  FinishedFile,
  FinishedSearch,
  PackRecord,
} from '../../../versions/packing/pack-record.js'
import { PackError, draftOf } from '../../../versions/packing/packer.js'
import type { PackOrder, StoredColumn } from '../../../versions/packing/packer.js'
import type { PackLayout } from './pack-layout.js'

/**
 * The folder beside the target for packed files in progress. Its `pack.json` names their sources
 * and the finished files. It moves into the target with them, so that the next pack recognises the
 * folder as one of the dataset's.
 */
export class PackDraft {
  readonly folder: string
  readonly #order: PackOrder
  readonly #identity: string
  readonly #sources: readonly string[]
  readonly #files = new Map<string, FinishedFile>()
  readonly #lock: ServerLock

  private constructor(order: PackOrder, sources: readonly string[], identity: string) {
    this.folder = draftOf(order.target)
    this.#lock = lockOf(this.folder, order.dataset)
    this.#order = order
    this.#sources = sources
    this.#identity = identity
  }

  /**
   * Keeps the files that an earlier try with the same sources finished; removes everything else.
   * @throws PackError while another process packs into the folder
   */
  static async open(order: PackOrder, layout: PackLayout): Promise<PackDraft> {
    const sources = await identitiesOf(order)
    makePrivateFolder(draftOf(order.target), order.isNamedByContent ? privateMode : sharedMode)
    const draft = new PackDraft(order, sources, identityOfOrder(order, sources, layout))
    try {
      await draft.#continue()
      return draft
    } catch (cause) {
      draft.close()
      throw cause
    }
  }

  /** Lets another process continue. */
  close(): void {
    this.#lock.release()
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
  async save(more: Pick<PackRecord, 'inOrder' | 'search'> = {}): Promise<void> {
    await saveRecord(this.folder, {
      ...more,
      dataset: this.#order.dataset,
      identity: this.#identity,
      files: [...this.#files.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    })
  }

  /** @throws PackError if a source has changed since the start */
  async requireSameSources(): Promise<void> {
    const now = await identitiesOf(this.#order)
    if (now.some((identity, index) => identity !== this.#sources[index])) throw replaced()
  }

  /** The size of the finished files. */
  async sizeBytes(): Promise<number> {
    let sum = 0
    for (const name of this.#files.keys()) {
      sum += (await stat(this.path(name)).catch(() => undefined))?.size ?? 0
    }
    return sum
  }

  /** Gives a written file to the owner of the draft, if this is root. */
  give(name: string): void {
    giveToFolderOwner(this.path(name))
  }

  /** Syncs a written file to the disk, before `save`. */
  sync(name: string): Promise<void> {
    this.give(name)
    return sync(this.path(name))
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Renames the draft to the target and syncs it to the disk. */
  async finish(inOrder: readonly number[], search: readonly FinishedSearch[]): Promise<void> {
    await this.save({ inOrder: [...inOrder], search: [...search] })
    const names = [packRecordName, ...search.map(({ name }) => name)]
    await this.#removeOthers(names)
    for (const name of [...names, ...this.#files.keys()]) await this.sync(name)
    await sync(this.folder)
    const { target } = this.#order
    const old = `${target}.old`
    await rm(old, { recursive: true, force: true })
    await rename(target, old).catch(ignoreMissing)
    await rename(this.folder, target)
    await sync(dirname(target))
    await rm(old, { recursive: true, force: true })
    await rm(join(target, lockName))
  }

  /** Moves search files into the target; its record names them when they are on the disk. */
  async addTo(record: PackRecord, search: readonly FinishedSearch[]): Promise<void> {
    const { target } = this.#order
    for (const { name } of search) {
      await this.sync(name)
      await rename(this.path(name), join(target, name))
    }
    await sync(target)
    await saveRecord(target, { ...record, search: [...(record.search ?? []), ...search] })
    await sync(target)
    await this.remove()
  }

  async #continue(): Promise<void> {
    const record = await readPackRecord(this.folder)
    const isSame = record?.identity === this.#identity
    if (isSame) for (const file of record.files) this.add(file)
    await this.#removeOthers(isSame ? [packRecordName, planName] : [])
    makePrivateFolder(this.path('tmp'))
    await this.save()
  }

  /** Removes all but the finished files and these. */
  async #removeOthers(names: readonly string[]): Promise<void> {
    for (const name of await readdir(this.folder)) {
      if (name === lockName || names.includes(name) || this.#files.has(name)) continue
      await rm(this.path(name), { recursive: true, force: true })
    }
  }
}

/** Of a copy in the state folder. */
const privateMode = 0o700
/** Of a copy for other tools; the system's mask applies. */
const sharedMode = 0o777
/** The file that holds the order of all rows; it is complete whenever it exists. */
export const planName = 'plan.parquet'
const lockName = 'lock'

function lockOf(folder: string, dataset: string): ServerLock {
  const text = `Another process is packing "${dataset}" already. It goes on; wait for it.`
  try {
    return ServerLock.take(join(folder, lockName), text)
  } catch (cause) {
    throw cause instanceof Error && cause.message === text ? new PackError(text, cause) : cause
  }
}

/**
 * The target's record if it already is a pack of the same sources, else null.
 * @throws PackError for a folder that is not a pack of this dataset
 */
export async function packedBefore(
  order: PackOrder,
  layout: PackLayout,
): Promise<PackRecord | null> {
  const { target, dataset } = order
  if (!(await stat(target).catch(() => undefined))) return null
  const record = await readPackRecord(target)
  if (record?.dataset !== dataset) {
    throw new PackError(`The target folder already exists and is not a pack of "${dataset}".`)
  }
  const identity = identityOfOrder(order, await identitiesOf(order), layout)
  if (!order.isNamedByContent && record.identity !== identity) return null
  for (const { name } of record.files) {
    if (!(await stat(join(target, name)).catch(() => undefined))) return null
  }
  return record
}

/** Equal identities have equal results, on every machine if the target is named by content. */
function identityOfOrder(order: PackOrder, sources: readonly string[], layout: PackLayout): string {
  const columns = (list: readonly StoredColumn[]) => list.map((c) => [c.name, typeText(c.type)])
  const files = order.files.map(({ rows, columns: stored, partition }, index) => {
    const file = order.isNamedByContent ? basename(order.target) : sources[index]
    return [file, rows, columns(stored), Object.entries(partition)]
  })
  const facts = [packFormat, layout, order.dataset, order.key, columns(order.columns), files]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** @throws PackError if a file is not the one of the order */
async function identitiesOf({ files }: PackOrder): Promise<readonly string[]> {
  const identities: string[] = []
  for (const { path, identity } of files) {
    const found = await stat(path, { bigint: true }).catch((cause: unknown) => {
      throw new FileError(path, "can't be read", cause)
    })
    const now = identityOf(found)
    if (identity !== null && identity !== now) throw replaced()
    identities.push(now)
  }
  return identities
}

function replaced(): PackError {
  return new PackError('A file was replaced while it was packed. Pack again.')
}

async function saveRecord(folder: string, record: PackRecord): Promise<void> {
  await writePackRecord(folder, record)
  giveToFolderOwner(join(folder, packRecordName))
}

async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}

function ignoreMissing(cause: NodeJS.ErrnoException): void {
  if (cause.code !== 'ENOENT') throw cause
}
