import { basename } from 'node:path'
import type { StoredFile } from '../../versions/version.js'
import { KeptPages } from './kept-pages.js'
import { RowCopy } from './row-copy.js'

/** For all copies together: a box has many files, and a process few descriptors. */
const copiesMax = 256
/** A directory takes twelve bytes for each block of rows, and four for each page of a look-up. */
const heldBytesMax = 256 * 1024 ** 2

interface OpenCopy {
  readonly copy: Promise<RowCopy>
  users: number
  heldBytes: number
}

/** Keeps row copies open, the least recently used ones only while they are read. */
export class OpenCopies {
  /** By path, the least recently used first. */
  readonly #open = new Map<string, OpenCopy>()
  readonly #pages = new KeptPages()

  /** Does work with a copy, which stays open meanwhile. @throws what `RowCopy.open` throws */
  async with<T>({ path }: StoredFile, work: (copy: RowCopy) => Promise<T>): Promise<T> {
    const known = this.#open.get(path)
    const entry = known ?? this.#openCopy(path)
    entry.users += 1
    this.#open.delete(path)
    this.#open.set(path, entry)
    try {
      return await work(await entry.copy)
    } finally {
      entry.users -= 1
      if (entry.users === 0 && this.#open.get(path) !== entry) void closeCopy(entry)
    }
  }

  /** Closes a copy that is not to be read any more, once no question reads it. */
  forget(path: string): void {
    const entry = this.#open.get(path)
    this.#open.delete(path)
    if (entry?.users === 0) void closeCopy(entry)
  }

  async close(): Promise<void> {
    const entries = [...this.#open.values()]
    this.#open.clear()
    await Promise.all(entries.filter(({ users }) => users === 0).map(closeCopy))
  }

  #openCopy(path: string): OpenCopy {
    const identity = basename(path, '.rows')
    const entry: OpenCopy = {
      copy: RowCopy.open(path, identity, this.#pages),
      users: 0,
      heldBytes: 0,
    }
    this.#open.set(path, entry)
    entry.copy.then(
      ({ heldBytes }) => {
        entry.heldBytes = heldBytes
        this.#makeRoom(entry)
      },
      () => {
        if (this.#open.get(path) === entry) this.#open.delete(path)
      },
    )
    return entry
  }

  #makeRoom(newest: OpenCopy): void {
    let bytes = 0
    for (const { heldBytes } of this.#open.values()) bytes += heldBytes
    for (const [path, entry] of this.#open) {
      if (this.#open.size <= copiesMax && bytes <= heldBytesMax) return
      if (entry === newest || entry.users > 0) continue
      bytes -= entry.heldBytes
      this.forget(path)
    }
  }
}

/** One that could not be opened has nothing to close. */
async function closeCopy({ copy }: OpenCopy): Promise<void> {
  await copy.then((opened) => opened.close()).catch(() => undefined)
}
