import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import type { Random } from '../random.js'
import type { CleanupStack } from './cleanup-stack.js'

/** What the parts of a server are built with. */
export interface ServerBase {
  readonly config: Config
  readonly logger: FastifyBaseLogger
  readonly clock: Clock
  readonly random: Random
  /** Closes what was opened, in reverse order. */
  readonly cleanup: CleanupStack
}
