import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { ChargeQueue } from '../access/charge-queue.js'
import { ChargeStore } from '../control/charge-store.js'
import { LastUsed } from '../control/last-used.js'
import { ControlStore } from '../control/store.js'
import { WriteHealth } from '../control/write-health.js'

/** Everything of a server that is written to control.db. */
export interface Records {
  readonly control: ControlStore
  readonly charges: ChargeQueue
  readonly lastUsed: LastUsed
  readonly health: WriteHealth
  /** Writes what still waits, and closes the store. */
  readonly close: () => Promise<void>
}

/** How long a lock on control.db may hold up the whole server; charges wait longer in between. */
const busyTimeoutMs = 50

/**
 * Opens control.db for a server; `announce` writes to it before it has to be quick.
 * @throws Error, for the operator, when it can't be opened
 */
export function openRecords(
  folder: string,
  parts: { readonly logger: FastifyBaseLogger; readonly now: () => number },
  announce: (control: ControlStore) => void,
): Records {
  const { logger, now } = parts
  const path = join(folder, 'control.db')
  const control = ControlStore.open(path)
  announce(control)
  control.setBusyTimeout(busyTimeoutMs)
  const chargeStore = ChargeStore.open(path, { busyTimeoutMs })
  const charges = new ChargeQueue(chargeStore)
  const lastUsed = new LastUsed(control, now, (cause) => {
    logger.warn({ err: cause }, 'the last uses of tokens are not noted for now')
  })
  const health = writeHealth(control, chargeStore, logger)
  const close = async () => {
    await charges.close()
    lastUsed.close()
    control.close()
  }
  return { control, charges, lastUsed, health, close }
}

/** Whether control.db takes writes; the log says once when it no longer does, and when it does. */
function writeHealth(
  control: ControlStore,
  charges: ChargeStore,
  logger: FastifyBaseLogger,
): WriteHealth {
  return new WriteHealth([control, charges], {
    now: () => performance.now(),
    report: (failure) => {
      if (failure) logger.error({ err: failure.cause }, 'control.db takes no writes')
      else logger.info('control.db takes writes again')
    },
  })
}
