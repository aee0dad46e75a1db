import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { ChargeQueue } from '../access/charge-queue.js'
import { ChargeStore } from '../control/charge-store.js'
import { LastUsed } from '../control/last-used.js'
import { ControlStore } from '../control/store.js'
import { WriteHealth } from '../control/write-health.js'
import type { Closers } from './closers.js'

/** Everything of a server that is written to control.db. */
export interface Records {
  readonly control: ControlStore
  readonly charges: ChargeQueue
  readonly lastUsed: LastUsed
  readonly health: WriteHealth
}

/** How long a lock on control.db may hold up the whole server; charges wait longer in between. */
const busyTimeoutMs = 50

/**
 * Opens control.db for a server; `closers` write what still waits, and close it.
 * @throws Error, for the operator, when it can't be opened
 */
export function openRecords(
  folder: string,
  parts: {
    readonly logger: FastifyBaseLogger
    readonly now: () => number
    readonly closers: Closers
  },
): Records {
  const { logger, now, closers } = parts
  const path = join(folder, 'control.db')
  const control = closers.add(ControlStore.open(path), (each) => {
    each.close()
  })
  control.setBusyTimeout(busyTimeoutMs)
  const report = (cause: unknown) => {
    logger.warn({ err: cause }, 'the last uses of tokens are not noted for now')
  }
  const lastUsed = closers.add(new LastUsed(control, now, report), (each) => {
    each.close()
  })
  const chargeStore = ChargeStore.open(path, { busyTimeoutMs })
  const charges = closers.add(new ChargeQueue(chargeStore), (each) => each.close())
  return { control, charges, lastUsed, health: writeHealth(control, chargeStore, logger) }
}

/** Whether control.db takes writes; the log says once when it no longer does, and when it does. */
function writeHealth(
  control: ControlStore,
  charges: ChargeStore,
  logger: FastifyBaseLogger,
): WriteHealth {
  return new WriteHealth(control, charges, {
    now: () => performance.now(),
    report: (failure) => {
      if (failure) logger.error({ err: failure.cause }, 'control.db takes no writes')
      else logger.info('control.db takes writes again')
    },
  })
}
