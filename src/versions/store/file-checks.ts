import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.js'
import { identityOf, inodeOf, stampOf } from '../files/find-files.js'
import type { SourceFile } from '../files/source-files.js'
import type { HashFile } from '../hash-file.js'
import type { StoredFile } from '../version.js'

/** A stored file and the SHA-256 that its content must have; null if it is not verified. */
export type CheckedFile = Pick<StoredFile, 'path' | 'guard' | 'hash'>

/**
 * The result of verifying a file. `replaced`: other content, written at another time; `damaged`:
 * other content with the same size and modification time; `unsettled`: not known yet, because the
 * file is being changed or can't be read.
 */
export type Verdict = 'intact' | 'replaced' | 'damaged' | 'gone' | 'unsettled'

/** One file on the disk, under all its names. */
interface Inode {
  readonly key: string
  readonly hash: string
  /** Its paths among stored files; the entry is dropped with the last one. */
  readonly names: Set<string>
  /** Its stamp when its content was verified. */
  stamp: string
  /** By the monotonic clock. */
  verifiedAt: number
}

type OnFailure = (file: CheckedFile, verdict: Verdict) => void

/** For a file that keeps changing. */
const attemptsMax = 3
/** Bounds how often an intact file is read again because the engine fails to read it. */
const recheckEveryMs = 60_000
/** Files removed in one turn of the event loop, about a millisecond. */
const atOnce = 64

/**
 * Knows which stored files have their published content. A file counts as verified only after this
 * process has read it. `stat` runs on this thread, because that is faster than asking another;
 * `hashFile` reads on a thread of its own.
 */
export class FileChecks {
  readonly #hashFile: HashFile
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #byInode = new Map<string, Inode>()
  readonly #byPath = new Map<string, Inode>()
  readonly #running = new Map<string, Promise<Verdict>>()
  #onFailure: OnFailure = () => undefined

  constructor(hashFile: HashFile, clock: Pick<Clock, 'monotonicMs'>) {
    this.#hashFile = hashFile
    this.#clock = clock
  }

  /** Sets the function to call with each file whose content has changed. */
  onFailure(report: OnFailure): void {
    this.#onFailure = report
  }

  get hashFile(): HashFile {
    return this.#hashFile
  }

  /** Reports a file that its reader found to be damaged. */
  reportDamage(file: CheckedFile): void {
    this.#forget(file.path)
    this.#onFailure(file, 'damaged')
  }

  /** Whether this process has verified the content. Does not access the disk. */
  isVerified({ path, hash }: CheckedFile): boolean {
    const known = this.#byPath.get(path)
    return hash === null || (known?.hash === hash && known.stamp !== '')
  }

  /** Whether the file is unchanged since it was verified. */
  isUntouched({ path, hash }: CheckedFile): boolean {
    const known = this.#byPath.get(path)
    const found = known && statOrNull(path)
    return found ? known.hash === hash && known.stamp === stampOf(found) : false
  }

  /** When this process verified the content, by the monotonic clock. */
  verifiedAt({ path }: CheckedFile): number | undefined {
    return this.#byPath.get(path)?.verifiedAt
  }

  /**
   * Reads a file, compares its content with the published one and reports a difference. Concurrent
   * calls for the same file share one verdict.
   */
  verify(file: CheckedFile, bytesPerSecondMax?: number): Promise<Verdict> {
    const key = bytesPerSecondMax === undefined ? file.path : `slowly ${file.path}`
    const running = this.#running.get(key)
    if (running) return running
    const run = this.#verify(file, bytesPerSecondMax).finally(() => this.#running.delete(key))
    this.#running.set(key, run)
    return run
  }

  /** Whether all files are intact; stops at the first that is not. */
  async verifyAll(files: readonly CheckedFile[]): Promise<boolean> {
    for (const file of files) {
      if ((await this.verify(file)) !== 'intact') return false
    }
    return true
  }

  /** Verifies a file that the engine could not read, unless it was verified just now. */
  async recheck(file: CheckedFile): Promise<Verdict> {
    const verifiedAt = this.verifiedAt(file) ?? -Infinity
    const ageMs = this.#clock.monotonicMs() - verifiedAt
    const isRecent = ageMs < recheckEveryMs && this.isUntouched(file)
    return isRecent ? 'intact' : this.verify(file)
  }

  /** Records a file that was hashed between two equal results of `stat`. */
  note(path: string, stats: BigIntStats, hash: string): void {
    const key = inodeOf(identityOf(stats))
    const known = this.#byInode.get(key)
    const added: Inode = { key, hash, names: new Set(), stamp: '', verifiedAt: 0 }
    const inode = known?.hash === hash ? known : added
    inode.stamp = stampOf(stats)
    inode.verifiedAt = this.#clock.monotonicMs()
    this.#byInode.set(key, inode)
    this.#name(path, inode)
  }

  /**
   * Creates a hard link. That changes the file's stamp; because both `stat` calls and the link run
   * in one step on this thread, a verified file stays verified.
   * @throws the system's error if there can be no link
   */
  link({ realPath, stamp, contentHash }: SourceFile, to: string): void {
    const before = statSync(realPath, { bigint: true })
    linkSync(realPath, to)
    const after = statSync(to, { bigint: true })
    const known = this.#byInode.get(inodeOf(identityOf(before)))
    const isKnown = known?.hash === contentHash && known.stamp === stampOf(before)
    if (identityOf(before) !== identityOf(after)) return
    if (isKnown) {
      known.stamp = stampOf(after)
      this.#name(to, known)
    } else if (stamp === stampOf(before)) this.note(to, after, contentHash)
  }

  /** Records that a folder was renamed. */
  move(from: string, to: string): void {
    for (const [path, inode] of this.#byPath) {
      if (!path.startsWith(`${from}/`)) continue
      this.#name(to + path.slice(from.length), inode)
      this.#unname(path)
    }
  }

  /** Removes a folder's files; they stay verified under their other names. */
  async unlinkFiles(folder: string): Promise<void> {
    let count = 0
    for (const name of namesIn(folder)) {
      const path = join(folder, name)
      const inode = this.#byPath.get(path)
      if (!inode) continue
      this.#unlink(path, inode)
      this.#unname(path)
      if (++count % atOnce === 0) await setImmediate()
    }
  }

  /** Also under its other names, the file is no longer verified. */
  #forget(path: string): void {
    const known = this.#byPath.get(path)
    if (known) known.stamp = ''
    this.#unname(path)
  }

  #name(path: string, inode: Inode): void {
    if (this.#byPath.get(path) === inode) return
    this.#unname(path)
    inode.names.add(path)
    this.#byPath.set(path, inode)
  }

  #unname(path: string): void {
    const inode = this.#byPath.get(path)
    this.#byPath.delete(path)
    inode?.names.delete(path)
    const isForgotten = inode?.names.size === 0 && this.#byInode.get(inode.key) === inode
    if (isForgotten) this.#byInode.delete(inode.key)
  }

  #unlink(path: string, inode: Inode): void {
    let file: number
    try {
      file = openSync(path, 'r')
    } catch {
      return
    }
    try {
      const before = fstatSync(file, { bigint: true })
      unlinkSync(path)
      const after = fstatSync(file, { bigint: true })
      if (inode.stamp === stampOf(before)) inode.stamp = stampOf(after)
    } finally {
      closeSync(file)
    }
  }

  async #verify(file: CheckedFile, bytesPerSecondMax?: number): Promise<Verdict> {
    const verdict = await this.#verdict(file, bytesPerSecondMax)
    if (verdict === 'intact' || verdict === 'unsettled') return verdict
    this.#forget(file.path)
    this.#onFailure(file, verdict)
    return verdict
  }

  async #verdict({ path, guard, hash }: CheckedFile, limit?: number): Promise<Verdict> {
    if (hash === null) return 'intact'
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      try {
        const before = await stat(path, { bigint: true })
        const found = await this.#hashFile(path, limit)
        const after = await stat(path, { bigint: true })
        if (found !== hash) {
          return guard !== null && identityOf(after) !== guard ? 'replaced' : 'damaged'
        }
        if (stampOf(before) !== stampOf(after)) continue
        this.note(path, after, hash)
        return 'intact'
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException
        if (code === 'ENOENT') return 'gone'
        return code === 'EIO' ? 'damaged' : 'unsettled'
      }
    }
    return 'unsettled'
  }
}

/** What the system knows of a file; null where it can't be found or its folder not be read. */
export function statOrNull(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return null
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
