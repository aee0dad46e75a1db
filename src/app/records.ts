import { dirname, join, sep } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { ChargeQueue } from '../access/charge-queue.js'
import { ChargeStore } from '../control/charge-store.js'
import { StoreWatch } from '../control/store-watch.js'
import type { StoreEvent } from '../control/store-watch.js'
import { restoreAdvice } from '../control/store/newest-backup.js'
import { checkStructure } from '../control/store/store-file.js'
import { ControlStore } from '../control/store/store.js'
import { LastUsed } from '../control/tokens/last-used.js'
import { WriteHealth } from '../control/write-health.js'
import { ServiceError } from '../errors.js'
import type { CleanupStack } from './cleanup-stack.js'
import { ClockWatch } from './clock-watch.js'

/** Everything of a server that is written to control.db. */
export interface Records {
  readonly control: ControlStore
  readonly charges: ChargeQueue
  readonly lastUsed: LastUsed
  /** Whether the store can be read, and takes writes. */
  readonly isUsable: () => boolean
}

/** How long a lock on control.db may hold up the whole server; charges wait longer in between. */
const busyTimeoutMs = 50

interface RecordsParts {
  readonly logger: FastifyBaseLogger
  readonly now: () => number
  readonly closers: CleanupStack
  /** Another control.db is used than before. */
  readonly reopened: () => void
}

/**
 * Opens control.db for a server, checks it, and watches it; `closers` write what still waits, and
 * close it.
 * @throws Error, for the operator, when it is damaged or can't be opened
 */
export function openRecords(folder: string, parts: RecordsParts): Records {
  const { logger, now, closers } = parts
  const path = join(folder, 'control.db')
  const control = closers.add(ControlStore.open(path), (each) => {
    each.close()
  })
  checkStructure(control.db)
  control.setBusyTimeout(busyTimeoutMs)
  const report = (cause: unknown) => {
    logger.warn({ err: cause }, 'the last uses of tokens are not noted for now')
  }
  const lastUsed = closers.add(new LastUsed(control, now, report), (each) => {
    each.close()
  })
  const chargeStore = ChargeStore.open(path, { busyTimeoutMs })
  const charges = closers.add(new ChargeQueue(chargeStore), (each) => each.close())
  const watch = closers.add(
    new StoreWatch({
      path,
      control,
      charges: chargeStore,
      report: (event) => {
        logEvent(logger, path, event)
        if (event.kind === 'reopened') parts.reopened()
      },
    }),
    (each) => {
      each.close()
    },
  )
  watch.start()
  const clock = new ClockWatch({ control, now, monotonicMs: () => performance.now(), logger })
  closers.add(clock, (each) => {
    each.close()
  })
  const health = writeHealth(control, chargeStore, logger)
  return { control, charges, lastUsed, isUsable: () => watch.isSound && health.isWritable() }
}

function logEvent(logger: FastifyBaseLogger, path: string, event: StoreEvent): void {
  const refused = 'every request that needs it is 503'
  switch (event.kind) {
    case 'damaged':
      logger.fatal(
        { reason: reasonOf(event.cause, path) },
        `control.db is damaged: ${refused}. ${restoreAdvice(path, false)}`,
      )
      break
    case 'replaced':
      logger.error(`control.db was removed or replaced: ${refused} until a sound one is in place`)
      break
    case 'refused':
      logger.error(
        { reason: reasonOf(event.cause, path) },
        `the control.db that was put in place can't be used: ${refused}. ${restoreAdvice(path, false)}`,
      )
      break
    case 'reopened':
      logger.warn('the control.db that was put in place is sound and is used from now on')
  }
}

/** The log names no folder. */
function reasonOf(cause: unknown, path: string): string {
  const found = cause instanceof ServiceError ? cause.cause : cause
  const text = found instanceof Error ? found.message : String(found)
  return text.replaceAll(dirname(path) + sep, '')
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
