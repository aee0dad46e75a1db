import pg from 'pg'
import { OneAtATime } from '../../one-at-a-time.js'
import { connectionSettings, lockKey, schemaOf } from './connection-settings.js'
import type { ConnectionOptions } from './connection-settings.js'
import { postgresFailure } from './postgres-failures.js'

/**
 * Lets one of several servers do a job, such as sending letters: the one that holds its name. Names
 * are held on one connection of their own and end with it: when a server dies, another can take
 * them, at once after a crash, after about ten seconds without its network.
 */
export class AdvisoryLock {
  readonly #settings: pg.ClientConfig
  readonly #schema: string
  readonly #held = new Set<string>()
  #client: pg.Client | undefined
  #isClosed = false
  /** One question at a time: a name that is taken twice would have to be released twice. */
  readonly #turns = new OneAtATime()

  /** @throws Error, for the operator, when this is not the URL of a PostgreSQL */
  constructor(url: string, options: ConnectionOptions = {}) {
    this.#schema = schemaOf(url, options)
    this.#settings = connectionSettings(url, options)
  }

  /**
   * Whether this server holds the name now; takes it if it is free. Call it before each piece of
   * the job: it also asks the server whether the connection, and with it the name, is still there.
   *
   * @throws service_unavailable when PostgreSQL can't be asked; then no name is held
   */
  tryTake(name: string): Promise<boolean> {
    return this.#turns.run(async () => {
      if (this.#isClosed) return false
      const client = (this.#client ??= await this.#connect())
      try {
        if (this.#held.has(name)) {
          await client.query('SELECT')
          return this.#held.has(name)
        }
        const { rows } = await client.query<{ isTaken: boolean }>(
          `SELECT pg_try_advisory_lock(${lockKey(this.#schema, name)}) AS "isTaken"`,
        )
        const isTaken = rows[0]?.isTaken === true
        if (isTaken) this.#held.add(name)
        return isTaken
      } catch (cause) {
        this.#drop(client)
        throw postgresFailure(cause)
      }
    })
  }

  /** Lets another server take the name. */
  release(name: string): Promise<void> {
    return this.#turns.run(async () => {
      const client = this.#client
      if (!this.#held.delete(name) || client === undefined) return
      try {
        await client.query(`SELECT pg_advisory_unlock(${lockKey(this.#schema, name)})`)
      } catch {
        // The connection ends, and with it the lock.
        this.#drop(client)
      }
    })
  }

  /** Lets other servers take all names. */
  close(): Promise<void> {
    return this.#turns.run(async () => {
      this.#isClosed = true
      const client = this.#client
      if (client === undefined) return
      this.#forget(client)
      await client.end()
    })
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#settings)
    client.on('error', () => this.#forget(client))
    client.on('end', () => this.#forget(client))
    try {
      await client.connect()
      return client
    } catch (cause) {
      throw postgresFailure(cause)
    }
  }

  /** Ends a connection in an unknown state: no name may stay held. */
  #drop(client: pg.Client): void {
    this.#forget(client)
    client.end().catch(() => {})
  }

  /** What is held on another connection stays. */
  #forget(client: pg.Client): void {
    if (this.#client !== client) return
    this.#held.clear()
    this.#client = undefined
  }
}
