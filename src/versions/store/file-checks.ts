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
import { identityOf, stampOf } from '../files/source-files.js'
import type { SourceFile } from '../files/source-files.js'
import type { HashFile } from '../hash-file.js'
import type { DataFile } from '../version.js'

/** A stored file, and the SHA-256 that its content must have; null = it is not verified. */
export type CheckedFile = Pick<DataFile, 'path' | 'guard' | 'hash'>

/**
 * What verifying a file found. `replaced`: another content, written at another time; `damaged`:
 * another content though size and time of writing are the same; `unsettled`: it can't be told yet,
 * since the file is being changed or can't be read.
 */
export type Verdict = 'intact' | 'replaced' | 'damaged' | 'gone' | 'unsettled'

/** What is known of one file on the disk, under however many names. */
interface Inode {
  readonly key: string
  readonly hash: string
  /** Its names among stored files; with the last one it is forgotten. */
  readonly names: Set<string>
  /** As it was when its content was verified. */
  stamp: string
  /** When that was, by the monotonic clock. */
  verifiedAt: number
}

type OnLoss = (file: CheckedFile, verdict: Verdict) => void

/** A file that is changed without end is not verified without end. */
const attemptsMax = 3
/** A file that the engine can't read though it is intact is not read again for each query. */
const recheckEveryMs = 60_000
/** Names removed in a row, about a millisecond; then others have their turn. */
const atOnce = 64

/**
 * Which stored files hold what they were published with. Nothing counts as verified before it was
 * read in this process. Files are looked at on this thread, which is quicker than the way to
 * another, and read on a thread of their own (`hashFile`).
 */
export class FileChecks {
  readonly #hashFile: HashFile
  readonly #byInode = new Map<string, Inode>()
  readonly #byPath = new Map<string, Inode>()
  readonly #running = new Map<string, Promise<Verdict>>()
  #onLoss: OnLoss = () => undefined

  constructor(hashFile: HashFile) {
    this.#hashFile = hashFile
  }

  /** Calls this with each file that is not what it was published with. */
  onFailure(report: OnLoss): void {
    this.#onLoss = report
  }

  get hashFile(): HashFile {
    return this.#hashFile
  }

  /** Whether the content was verified in this process. Costs no look at the disk. */
  isVerified({ path, hash }: CheckedFile): boolean {
    const known = this.#byPath.get(path)
    return hash === null || (known?.hash === hash && known.stamp !== '')
  }

  /** Whether nothing at all was done to the file since it was verified. */
  isUntouched({ path, hash }: CheckedFile): boolean {
    const known = this.#byPath.get(path)
    const found = known && statOrNull(path)
    return found ? known.hash === hash && known.stamp === stampOf(found) : false
  }

  /** When the content was verified, by the monotonic clock; undefined = not in this process. */
  verifiedAt({ path }: CheckedFile): number | undefined {
    return this.#byPath.get(path)?.verifiedAt
  }

  /**
   * Reads a file and says whether it is what it was published with; what is not is reported, too.
   * Callers that ask for the same file meanwhile get the same verdict.
   */
  verify(file: CheckedFile, bytesPerSecondMax?: number): Promise<Verdict> {
    const key = bytesPerSecondMax === undefined ? file.path : `slowly ${file.path}`
    const running = this.#running.get(key)
    if (running) return running
    const run = this.#verify(file, bytesPerSecondMax).finally(() => this.#running.delete(key))
    this.#running.set(key, run)
    return run
  }

  /** Whether all of these files are intact; ends with the first that is not. */
  async verifyAll(files: readonly CheckedFile[]): Promise<boolean> {
    for (const file of files) {
      if ((await this.verify(file)) !== 'intact') return false
    }
    return true
  }

  /** The same of a file that the engine could not read; `intact` where that was verified just now. */
  async recheck(file: CheckedFile): Promise<Verdict> {
    const verifiedAt = this.verifiedAt(file) ?? -Infinity
    const isRecent = performance.now() - verifiedAt < recheckEveryMs && this.isUntouched(file)
    return isRecent ? 'intact' : this.verify(file)
  }

  /**
   * Reads a file that was just made here, and takes what it holds as what it must hold: its hash.
   * @throws the system's error; Error where it is written to meanwhile
   */
  async adopt(path: string): Promise<string> {
    const before = await stat(path, { bigint: true })
    const hash = await this.#hashFile(path)
    const after = await stat(path, { bigint: true })
    if (stampOf(before) !== stampOf(after)) throw new Error('a stored file was written to')
    this.note(path, after, hash)
    return hash
  }

  /** Notes a file whose content was just hashed between two looks that saw the same. */
  note(path: string, stats: BigIntStats, hash: string): void {
    const key = inodeOf(stats)
    const known = this.#byInode.get(key)
    const inode = known?.hash === hash ? known : newInode(key, hash)
    inode.stamp = stampOf(stats)
    inode.verifiedAt = performance.now()
    this.#byInode.set(key, inode)
    this.#name(path, inode)
  }

  /**
   * Gives a source file a further name. That changes its stamp, so both looks and the link are one
   * step on this thread: what was verified under the old name is so under the new one.
   * @throws the system's error where there can be no link
   */
  link({ realPath, stamp, contentHash }: SourceFile, to: string): void {
    const before = statSync(realPath, { bigint: true })
    linkSync(realPath, to)
    const after = statSync(to, { bigint: true })
    const known = this.#byInode.get(inodeOf(before))
    const isKnown = known?.hash === contentHash && known.stamp === stampOf(before)
    if (identityOf(before) !== identityOf(after)) return
    if (isKnown) {
      known.stamp = stampOf(after)
      this.#name(to, known)
    } else if (stamp === stampOf(before)) this.note(to, after, contentHash)
  }

  /** A folder got another name; the files in it are the same. */
  move(from: string, to: string): void {
    for (const [path, inode] of this.#byPath) {
      if (!path.startsWith(`${from}/`)) continue
      this.#name(to + path.slice(from.length), inode)
      this.#unname(path)
    }
  }

  /** Takes names away from files, which may be served under others: they stay verified. */
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

  /** The file's other names are not verified any more either. */
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
    this.#onLoss(file, verdict)
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

function newInode(key: string, hash: string): Inode {
  return { key, hash, names: new Set(), stamp: '', verifiedAt: 0 }
}

function inodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}-${ino}`
}

function statOrNull(path: string): BigIntStats | null {
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
