import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../clock.js'

/** Descriptors for the files of datasets, control.db and spills, not for connections. */
const reservedForFiles = 256

const checkEveryMs = 1000
const logEveryMs = 60_000

interface DescriptorParts {
  readonly server: Server
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'error'>
  /** The limit of open files and sockets; null = unknown. */
  readonly filesMax: number | null
  readonly clock: Clock
}

/**
 * Reserves 256 descriptors for files, or half of a small limit, and leaves the rest to connections.
 * Logs at most once a minute that connections are dropped for lack of descriptors: Node.js drops
 * them silently.
 */
export class DescriptorWatch {
  readonly #parts: DescriptorParts
  readonly #stop: () => void
  #dropped = 0
  #loggedAt = -Infinity

  constructor(parts: DescriptorParts) {
    this.#parts = parts
    const { server, filesMax, logger } = parts
    if (filesMax !== null) {
      const room = filesMax - Math.min(reservedForFiles, Math.floor(filesMax / 2))
      server.maxConnections = Math.min(server.maxConnections, room)
      if (filesMax < 2 * reservedForFiles) {
        logger.warn(
          { filesMax, connectionsMax: server.maxConnections },
          `the limit of open files is low. ${remedy}`,
        )
      }
    }
    server.on('drop', this.#onDrop)
    this.#stop = parts.clock.every(checkEveryMs, () => this.check())
  }

  /** Opens a file to find out whether descriptors are left. */
  check(): void {
    try {
      closeSync(openSync('/dev/null', 'r'))
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'EMFILE' || code === 'ENFILE') this.#log({ code }, 'no more files can be opened')
    }
  }

  close(): void {
    this.#stop()
    this.#parts.server.off('drop', this.#onDrop)
  }

  readonly #onDrop = (): void => {
    this.#dropped += 1
    const connectionsMax = this.#parts.server.maxConnections
    if (this.#log({ dropped: this.#dropped, connectionsMax }, 'too many connections')) {
      this.#dropped = 0
    }
  }

  /** False if the last line is not a minute old. */
  #log(facts: object, what: string): boolean {
    const { logger, clock, filesMax } = this.#parts
    const { monotonicMs } = clock
    if (monotonicMs() - this.#loggedAt < logEveryMs) return false
    this.#loggedAt = monotonicMs()
    logger.error({ ...facts, filesMax }, `${what}: new connections are dropped. ${remedy}`)
    return true
  }
}

const remedy =
  'Raise the limit of open files: `ulimit -n 65536` in the shell, `LimitNOFILE=65536` in the ' +
  'systemd unit'
