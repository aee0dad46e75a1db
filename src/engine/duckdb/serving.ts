import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Clock } from '../../clock.js'
import { unavailable } from '../../errors.js'
import { isFatal, readFailure } from './duckdb-failure.js'
import { runAtLowPriority, startLowPriorityThreads } from './low-priority.js'
import { executeInPool } from './run-statement.js'
import type { Execute } from './run-statement.js'
import { startInstance } from './sandbox.js'
import type { SandboxOptions } from './sandbox.js'
import { Session } from './session.js'
import type { SlowFiles } from './session.js'

export interface ServingOptions extends SandboxOptions {
  /** Its threads have a low priority, where that is possible, for large work. */
  readonly hasLowPriority?: boolean
  readonly clock: Clock
}

/** A piece of work that runs. */
interface Running {
  /** While it runs, it may become large. */
  readonly isLarge: () => boolean
}

interface PooledInstance {
  readonly instance: DuckDBInstance
  readonly tempFolder: string | null
  readonly hasLowPriority: boolean
  /** Sessions that are ready for work; the one used last is at the end. */
  readonly idle: Session[]
  readonly running: Set<Running>
  readonly slow: SlowFiles
  readonly openedMs: number
  /** A retired instance takes no more work and closes when its last work ends. */
  isRetired: boolean
}

const never = new AbortController().signal

/** The setting of the cache of parts of files; switched off, the cache is emptied. */
const fileCache = 'enable_external_file_cache'

/** How long an instance keeps the footers of replaced files at least. */
const footersKeptMs = 10 * 60_000

/**
 * The instance that queries run on. After a fatal error DuckDB refuses every connection of an
 * instance: the instance is retired, and the next piece of work gets a new one.
 */
export class ServingInstance {
  readonly #options: ServingOptions
  #opening: Promise<PooledInstance> | null = null

  constructor(options: ServingOptions) {
    this.#options = options
  }

  /**
   * Runs `work` on a session of its own: an interrupt stops everything that runs on a connection,
   * so no two queries share one. A session whose work failed is not used again. Large work runs at
   * a low priority, where the instance has one.
   * @throws service_unavailable when no instance can be started; the next call tries again
   */
  async run<T>(work: (session: Session) => Promise<T>, isLarge = () => false): Promise<T> {
    const running: Running = { isLarge }
    const opened = await this.#take(running)
    let session: Session | undefined
    try {
      session = opened.idle.pop() ?? (await connect(opened))
      const { hasLowPriority, slow } = opened
      session.runWith(executeOn(opened, running), hasLowPriority ? slow : null)
      const result = await work(session)
      opened.idle.push(session)
      return result
    } catch (cause) {
      session?.close()
      if (isFatal(readFailure(cause))) this.#retire(opened)
      throw cause
    } finally {
      opened.running.delete(running)
      await closeIfDone(opened)
    }
  }

  /**
   * Starts it before its first question, which finds it ready.
   * @throws service_unavailable when it can't be started; the next question tries again
   */
  async start(): Promise<void> {
    await this.run(async () => {})
  }

  /** The memory that it holds; 0 before it has started. */
  async memoryBytes(): Promise<number> {
    if (!this.#opening) return 0
    const sql = 'SELECT sum(memory_usage_bytes)::DOUBLE FROM duckdb_memory()'
    const found = await this.run((session) => session.run({ sql }, never))
    return Number(found[0]?.[0])
  }

  /**
   * Drops what DuckDB keeps of the files that it read: their parts at once, and from time to time
   * their footers, which only the end of an instance drops. It would keep those that are replaced,
   * too, up to its memory limit; those that are still read cost one read more.
   * @throws service_unavailable when no instance can be started
   */
  async forgetFiles(): Promise<void> {
    const opening = this.#opening
    if (!opening) return
    await this.run(async (session) => {
      for (const isOn of [false, true]) {
        await session.runOnce({ sql: `SET GLOBAL ${fileCache} = ${isOn}` }, never)
      }
    })
    const opened = await opening
    if (opened.isRetired) return
    if (this.#options.clock.monotonicMs() - opened.openedMs < footersKeptMs) return
    this.#retire(opened)
    await closeIfDone(opened)
  }

  /** Closes the instance when its last work ends. */
  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => null)
    if (!opened) return
    this.#retire(opened)
    await closeIfDone(opened)
  }

  async #take(running: Running): Promise<PooledInstance> {
    for (;;) {
      const opening = (this.#opening ??= open(this.#options))
      try {
        const opened = await opening
        if (opened.isRetired) continue
        opened.running.add(running)
        return opened
      } catch (cause) {
        if (this.#opening === opening) this.#opening = null
        throw unavailable('The query engine could not be started. Try again shortly.', 5, cause)
      }
    }
  }

  #retire(opened: PooledInstance): void {
    if (opened.isRetired) return
    opened.isRetired = true
    this.#opening = null
  }
}

/** Each instance has its own temp folder: two in one folder would overwrite each other's files. */
async function open(options: ServingOptions): Promise<PooledInstance> {
  const openedMs = options.clock.monotonicMs()
  const tempFolder = options.tempFolder === null ? null : await newFolder(options.tempFolder)
  let hasLowPriority = false
  const prepare = async (connection: DuckDBConnection) => {
    hasLowPriority = await startLowPriorityThreads(connection, options.threads)
  }
  const instance = await startInstance({
    ...options,
    tempFolder,
    changeable: [fileCache],
    ...(options.hasLowPriority && { threads: 1, prepare }),
  }).catch(async (cause: unknown) => {
    await removeFolder(tempFolder)
    throw cause
  })
  const unused = {
    idle: [],
    running: new Set<Running>(),
    slow: new Map<string, boolean>(),
    isRetired: false,
  }
  return { instance, tempFolder, hasLowPriority, openedMs, ...unused }
}

async function newFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  return await mkdtemp(join(parent, 'instance-'))
}

async function removeFolder(folder: string | null): Promise<void> {
  if (folder !== null) await rm(folder, { recursive: true, force: true })
}

async function connect({ instance, tempFolder }: PooledInstance): Promise<Session> {
  return new Session(await instance.connect(), tempFolder)
}

/**
 * Large work runs at a low priority while it is the only one: the threads of an instance may leave
 * a query aside until another ends, so two large ones each need a thread of their own. So does one
 * that must stop, because DuckDB sees an interrupt only where it works for the query.
 */
function executeOn({ hasLowPriority, running }: PooledInstance, { isLarge }: Running): Execute {
  if (!hasLowPriority) return executeInPool
  const isOnly = () => [...running].filter((each) => each.isLarge()).length === 1
  return (prepared, signal) =>
    isLarge()
      ? runAtLowPriority(prepared, () => isOnly() && !signal.aborted)
      : executeInPool(prepared, signal)
}

async function closeIfDone(opened: PooledInstance): Promise<void> {
  const { instance, tempFolder, idle, running, isRetired } = opened
  if (!isRetired || running.size > 0) return
  for (const session of idle.splice(0)) session.close()
  instance.closeSync()
  await removeFolder(tempFolder)
}
