import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../../clock.js'
import type { Jobs } from '../../control/jobs.js'
import { keyOf } from '../../control/keys.js'
import type { ControlStore } from '../../control/store/store.js'
import type { LetterSender } from '../../sales/letters/letter-sender.js'
import type { Registry } from '../../registry/registry.js'
import { createShop } from '../../sales/orders/shop.js'
import type { Shop } from '../../sales/orders/shop.js'
import type { CleanupStack } from '../cleanup-stack.js'
import { ShopUpkeep } from './shop-upkeep.js'

interface ShopOpening {
  readonly folder: string
  readonly store: ControlStore
  readonly jobs: Jobs
  /** The registry that is served now. */
  readonly registry: () => Registry
  readonly clock: Clock
  /** Null when mail is off: then nothing can be ordered. */
  readonly letters: LetterSender | null
  readonly logger: FastifyBaseLogger
  readonly cleanup: CleanupStack
}

interface OpenShop {
  readonly shop: Shop
  readonly upkeep: ShopUpkeep
}

/** The shop of a server, and its upkeep, not started yet. */
export async function openShop(parts: ShopOpening): Promise<OpenShop> {
  const { folder, letters, store, jobs, registry, clock, logger, cleanup } = parts
  const shop = createShop({
    store,
    registry,
    now: clock.now,
    key: await keyOf(store, folder, 'shop.key'),
    mailKey: await keyOf(store, folder, 'mail.key'),
    isMailOn: letters !== null,
    sendLetters: () => {
      letters?.send()
    },
  })
  return { shop, upkeep: cleanup.use(new ShopUpkeep({ store, jobs, clock, logger })) }
}
