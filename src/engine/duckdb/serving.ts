import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBInstance } from '@duckdb/node-api'
import { ServiceError } from '../../errors.js'
import { isFatal, readFailure } from './duckdb-failure.js'
import { runAtLowPriority } from './low-priority.js'
import type { Execute } from './run-statement.js'
import { startInstance } from './sandbox.js'
import type { SandboxOptions } from './sandbox.js'
import { Session } from './session.js'

interface PooledInstance {
  readonly instance: DuckDBInstance
  readonly tempFolder: string | null
  readonly execute: Execute | undefined
  /** Sessions that are ready for work; the one used last is at the end. */
  readonly idle: Session[]
  /** The number of pieces of work that run on it. */
  users: number
  /** A retired instance takes no more work and closes when its last work ends. */
  isRetired: boolean
}

const never = new AbortController().signal

/** The setting of the cache of parts of files; switched off, the cache is emptied. */
const fileCache = 'enable_external_file_cache'

/**
 * The instance that queries run on. After a fatal error DuckDB refuses every connection of an
 * instance: the instance is retired, and the next piece of work gets a new one.
 */
export class ServingInstance {
  readonly #options: SandboxOptions
  #opening: Promise<PooledInstance> | null = null

  constructor(options: SandboxOptions) {
    this.#options = options
  }

  /**
   * Runs `work` on a session of its own: an interrupt stops everything that runs on a connection,
   * so no two queries share one. A session whose work failed is not used again.
   * @throws service_unavailable when no instance can be started; the next call tries again
   */
  async run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const opened = await this.#take()
    let session: Session | undefined
    try {
      session = opened.idle.pop() ?? (await connect(opened))
      const result = await work(session)
      opened.idle.push(session)
      return result
    } catch (cause) {
      session?.close()
      if (isFatal(readFailure(cause))) this.#retire(opened)
      throw cause
    } finally {
      opened.users -= 1
      closeIfDone(opened)
    }
  }

  /** The memory that it holds; 0 before it has started. */
  async memoryBytes(): Promise<number> {
    if (!this.#opening) return 0
    const sql = 'SELECT sum(memory_usage_bytes)::DOUBLE FROM duckdb_memory()'
    const found = await this.run((session) => session.run({ sql }, never))
    return Number(found[0]?.[0])
  }

  /** Drops what DuckDB keeps of the files that it read. */
  async forgetFiles(): Promise<void> {
    if (!this.#opening) return
    await this.run(async (session) => {
      for (const isOn of [false, true]) {
        await session.runOnce({ sql: `SET GLOBAL ${fileCache} = ${isOn}` }, never)
      }
    })
  }

  /** Closes the instance when its last work ends. */
  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => null)
    if (!opened) return
    this.#retire(opened)
    closeIfDone(opened)
  }

  async #take(): Promise<PooledInstance> {
    for (;;) {
      const opening = (this.#opening ??= open(this.#options))
      try {
        const opened = await opening
        if (opened.isRetired) continue
        opened.users += 1
        return opened
      } catch (cause) {
        if (this.#opening === opening) this.#opening = null
        const detail = 'The query engine could not be started. Try again shortly.'
        throw new ServiceError('service_unavailable', detail, { cause, retryAfterSeconds: 5 })
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
async function open(options: SandboxOptions): Promise<PooledInstance> {
  const tempFolder = options.tempFolder === null ? null : join(options.tempFolder, randomUUID())
  if (tempFolder !== null) await mkdir(tempFolder, { recursive: true, mode: 0o700 })
  const instance = await startInstance({ ...options, tempFolder, changeable: [fileCache] })
  const execute = options.hasLowPriority ? runAtLowPriority : undefined
  return { instance, tempFolder, execute, idle: [], users: 0, isRetired: false }
}

async function connect({ instance, tempFolder, execute }: PooledInstance): Promise<Session> {
  return new Session(await instance.connect(), tempFolder, execute)
}

function closeIfDone(opened: PooledInstance): void {
  if (!opened.isRetired || opened.users > 0) return
  for (const session of opened.idle.splice(0)) session.close()
  opened.instance.closeSync()
}
