import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { ChargeQueue } from '../../access/charge-queue.js'
import type { DurableCharges } from '../../access/charge-queue.js'
import { MemoryWindows } from '../../access/memory-windows.js'
import { RateLimits } from '../../access/rate-limits.js'
import { readsOf } from '../../control/admission-reads.js'
import type { OnSync } from '../../control/charge-store.js'
import type { Clock } from '../../clock.js'
import { AdvisoryLock } from '../../control/postgres/advisory-lock.js'
import { databaseHealth } from '../../control/postgres/database-health.js'
import { PostgresCharges } from '../../control/postgres/postgres-charges.js'
import { PostgresStore } from '../../control/postgres/postgres-store.js'
import { sharedWindows } from '../../control/postgres/shared-windows.js'
import { SqliteStore } from '../../control/store/sqlite-store.js'
import type { StoreParts } from '../../control/store/store.js'
import { ServiceError } from '../../errors.js'
import { LastUsed } from '../../control/tokens/last-used.js'
import type { ServerBase } from '../server-base.js'
import { AuditTrail } from './audit-trail.js'
import type { Records, RecordsParts } from './file-records.js'
import { openKeys } from './open-keys.js'

/**
 * Opens the records of one of several servers: those that they share are in a PostgreSQL. At a
 * stop, pending data is written.
 *
 * @throws Error, for the operator, when it can't be used, or its schema is newer than this release
 */
export async function openSharedRecords(
  url: string,
  { logger, clock, random, cleanup }: ServerBase,
  { folder, onSync }: Omit<RecordsParts, 'reopened'>,
): Promise<Records> {
  const control = cleanup.use(await openDatabase(url, { clock, random }))
  const local = cleanup.use(SqliteStore.open(join(folder, 'server.db'), { clock, random }))
  const trail = cleanup.use(new AuditTrail({ control, clock, logger }))
  const lastUsed = new LastUsed(control, clock.now, (cause) => {
    logger.warn({ err: cause }, 'the last uses of tokens are not saved for now')
  })
  cleanup.use(lastUsed)
  const chargeStore = reported(new PostgresCharges(url), onSync, clock)
  const charges = cleanup.use(new ChargeQueue(chargeStore, clock))
  const jobs = cleanup.use(new AdvisoryLock(url))
  const { monotonicMs } = clock
  const isUsable = databaseHealth(control, {
    now: monotonicMs,
    report: (failure) => {
      if (failure) logger.error({ err: failure.cause }, "the PostgreSQL can't be used")
      else logger.info('the PostgreSQL can be used again')
    },
  })
  const keys = await openKeys(control, folder)
  const salt = createHash('sha256').update(keys.shop).update('addresses').digest()
  return {
    control,
    local,
    keys,
    charges,
    reads: readsOf(control),
    lastUsed,
    trail,
    rates: new RateLimits(sharedWindows(control), new MemoryWindows(monotonicMs), salt),
    jobs,
    isUsable,
    // PostgreSQL watches its own files.
    start: () => {
      trail.start()
    },
  }
}

/** Reports each batch as a sync: a PostgreSQL answers when it is durable. */
function reported(store: DurableCharges, onSync: OnSync, { monotonicMs }: Clock): DurableCharges {
  return {
    chargeAll: async (charges) => {
      const start = monotonicMs()
      let isDone = false
      try {
        const results = await store.chargeAll(charges)
        isDone = true
        return results
      } finally {
        onSync(monotonicMs() - start, isDone)
      }
    },
    synced: () => store.synced(),
    close: () => store.close(),
  }
}

async function openDatabase(url: string, parts: StoreParts): Promise<PostgresStore> {
  let store: PostgresStore | undefined
  try {
    store = new PostgresStore(url, parts)
    await store.ready()
    return store
  } catch (cause) {
    await store?.close()
    const found = cause instanceof ServiceError ? cause.cause : cause
    const why = found instanceof Error ? found.message : String(found)
    throw new Error(`The PostgreSQL of DAS_CONTROL_URL can't be used: ${why}`, { cause })
  }
}
