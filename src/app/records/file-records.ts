import { dirname, join, sep } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { ChargeQueue } from '../../access/charge-queue.js'
import { RateLimits } from '../../access/rate-limits.js'
import { keptReads } from '../../control/admission-reads.js'
import type { AdmissionReads } from '../../control/admission-reads.js'
import { ChargeStore } from '../../control/charge-store.js'
import type { OnSync } from '../../control/charge-store.js'
import { StoreWatch } from '../../control/store-watch.js'
import type { StoreEvent } from '../../control/store-watch.js'
import { restoreAdvice } from '../../control/store/newest-backup.js'
import { checkStructure } from '../../control/store/store-file.js'
import { SqliteStore } from '../../control/store/sqlite-store.js'
import type { ControlStore } from '../../control/store/store.js'
import { LastUsed } from '../../control/tokens/last-used.js'
import { WriteHealth } from '../../control/write-health.js'
import { allJobs } from '../../control/jobs.js'
import type { Jobs } from '../../control/jobs.js'
import { ServiceError } from '../../errors.js'
import type { ServerBase } from '../server-base.js'
import { AuditTrail } from './audit-trail.js'
import { openKeys } from './open-keys.js'
import type { Keys } from './open-keys.js'

/** The parts of a server that keep its records. */
export interface Records {
  /** What was sold and used: control.db, or the PostgreSQL of several servers. */
  readonly control: ControlStore
  /** What this server reports about itself: control.db too, or server.db beside a PostgreSQL. */
  readonly local: ControlStore
  readonly keys: Keys
  readonly charges: ChargeQueue
  readonly reads: AdmissionReads
  readonly lastUsed: LastUsed
  readonly trail: AuditTrail
  readonly rates: RateLimits
  readonly jobs: Jobs
  /** Whether the store can be read and written. */
  readonly isUsable: () => Promise<boolean>
  /** Begins to watch control.db, once all that hears of a change is built. */
  readonly start: () => void
}

/** How long a statement blocks the event loop for another process's lock on control.db. */
const busyTimeoutMs = 50
/** How long a transaction waits for such a lock, beside the event loop; charges wait as long. */
const lockWaitMs = 5000

export interface RecordsParts {
  /** The state folder. */
  readonly folder: string
  /** Called when another control.db is in use. */
  readonly reopened: () => void
  /** Called after each attempt to make charges durable. */
  readonly onSync: OnSync
}

/**
 * Opens control.db for a server and checks it. At a stop, pending data is written.
 * @throws Error, for the operator, when it is damaged or can't be opened
 */
export async function openFileRecords(base: ServerBase, parts: RecordsParts): Promise<Records> {
  const { logger, clock, random, cleanup } = base
  const { folder, onSync } = parts
  const path = join(folder, 'control.db')
  const control = cleanup.use(SqliteStore.open(path, { clock, random, lockWaitMs }))
  checkStructure(control.file.db)
  control.file.setBusyTimeout(busyTimeoutMs)
  const trail = cleanup.use(new AuditTrail({ control, clock, logger }))
  const report = (cause: unknown) => {
    logger.warn({ err: cause }, 'the last uses of tokens are not saved for now')
  }
  const lastUsed = cleanup.use(new LastUsed(control, clock.now, report))
  const chargeStore = ChargeStore.open(path, {
    clock,
    random,
    // The queue waits for locks, and drops the charges of clients that left meanwhile.
    busyTimeoutMs: 0,
    turns: control.turns,
    onSync,
  })
  const charges = cleanup.use(new ChargeQueue(chargeStore, clock))
  const watch = cleanup.use(
    new StoreWatch({
      path,
      control: control.file,
      charges: chargeStore,
      clock,
      report: (event) => {
        logEvent(logger, path, event)
        if (event.kind === 'reopened') parts.reopened()
      },
    }),
  )
  const health = writeHealth(control, chargeStore, base)
  return {
    control,
    local: control,
    keys: await openKeys(control, folder),
    charges,
    reads: keptReads(control, chargeStore),
    lastUsed,
    trail,
    rates: RateLimits.inMemory(clock.monotonicMs, random),
    jobs: allJobs,
    isUsable: async () => watch.isSound && (await health.isWritable()),
    start: () => {
      watch.start()
      trail.start()
    },
  }
}

function logEvent(logger: FastifyBaseLogger, path: string, event: StoreEvent): void {
  const refused = 'every request that needs it gets 503'
  switch (event.kind) {
    case 'damaged':
      logger.fatal(
        { reason: reasonOf(event.cause, path) },
        `control.db is damaged: ${refused}. ${restoreAdvice(path, false)}`,
      )
      break
    case 'replaced':
      logger.error(
        `control.db was removed or replaced: ${refused} until a sound file is in its place`,
      )
      break
    case 'refused':
      logger.error(
        { reason: reasonOf(event.cause, path) },
        `the new control.db can't be used: ${refused}. ${restoreAdvice(path, false)}`,
      )
      break
    case 'reopened':
      logger.warn('the new control.db is sound and in use')
      break
    case 'log lost':
      logger.error(
        'control.db-wal or control.db-shm was removed or replaced: a crash now would lose records',
      )
      break
    case 'log saved':
      logger.warn('what the lost control.db-wal held is in control.db, and a new log is in use')
  }
}

/** The reason without the folder, which the log must not name. */
function reasonOf(cause: unknown, path: string): string {
  const found = cause instanceof ServiceError ? cause.cause : cause
  const text = found instanceof Error ? found.message : String(found)
  return text.replaceAll(dirname(path) + sep, '')
}

/** Watches whether control.db can be written; logs when writes begin to fail and when they work. */
function writeHealth(
  control: SqliteStore,
  charges: ChargeStore,
  { clock, logger }: ServerBase,
): WriteHealth {
  return new WriteHealth(control, charges, {
    now: clock.monotonicMs,
    report: (failure) => {
      if (failure) logger.error({ err: failure.cause }, "control.db can't be written")
      else logger.info('control.db can be written again')
    },
  })
}
