import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'

/** Kept from connections for files: of the datasets, of control.db, of spills. */
const reservedForFiles = 256

const lookEveryMs = 1000
const logEveryMs = 60_000

interface DescriptorParts {
  readonly server: Server
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'error'>
  /** How many files and sockets the process may have open; null = not known. */
  readonly filesMax: number | null
  readonly monotonicMs: () => number
}

/** How many descriptors this process may have open; null where the system does not say. */
export function openFilesMax(): number | null {
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } }
  }
  const soft = report.userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : null
}

/**
 * Keeps descriptors for files, and logs when connections are dropped for lack of them, at most once
 * a minute: Node.js closes such a connection and says nothing. A server takes at most as many
 * connections as the limit of open files allows beside 256 files, or half of a smaller limit.
 */
export class DescriptorWatch {
  readonly #parts: DescriptorParts
  readonly #timer: NodeJS.Timeout
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
          `few open files: ${remedy}`,
        )
      }
    }
    server.on('drop', this.#onDrop)
    this.#timer = setInterval(() => this.look(), lookEveryMs).unref()
  }

  /** Tries to open a file: where that fails, connections are dropped, too. */
  look(): void {
    try {
      closeSync(openSync('/dev/null', 'r'))
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'EMFILE' || code === 'ENFILE') this.#log({ code }, 'no more files can be opened')
    }
  }

  /** Ends the looks. */
  close(): void {
    clearInterval(this.#timer)
    this.#parts.server.off('drop', this.#onDrop)
  }

  readonly #onDrop = (): void => {
    this.#dropped += 1
    const connectionsMax = this.#parts.server.maxConnections
    this.#log({ dropped: this.#dropped, connectionsMax }, 'too many connections')
  }

  #log(facts: object, what: string): void {
    const { logger, monotonicMs, filesMax } = this.#parts
    if (monotonicMs() - this.#loggedAt < logEveryMs) return
    this.#loggedAt = monotonicMs()
    this.#dropped = 0
    logger.error({ ...facts, filesMax }, `${what}: new connections are dropped. ${remedy}`)
  }
}

const remedy =
  'Raise the limit of open files: `ulimit -n 65536` in the shell, `LimitNOFILE=65536` in the systemd ' +
  'unit'
