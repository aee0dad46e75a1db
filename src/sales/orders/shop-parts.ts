import type { ControlStore } from '../../control/store/store.js'
import type { CodeParts } from '../codes/codes.js'
import type { Registry } from '../../registry/registry.js'

/** What changes of orders need, in a server and in a command. */
export interface OrderParts {
  readonly store: ControlStore
  readonly registry: () => Registry
  /** Seals tokens and codes for letters. */
  readonly mailKey: Uint8Array
  /** Ms since the epoch. */
  readonly now: () => number
}

/** What the shop of a server needs. */
export interface ShopParts extends OrderParts, CodeParts {
  /** False when the server has no mail server: then nothing can be ordered. */
  readonly isMailOn: boolean
}
