import { keyOf } from '../../control/keys.js'
import type { ControlStore } from '../../control/store/store.js'

/** The secrets of a server, each of 256 bits. */
export interface Keys {
  /** Signs cursors; who can read it may ask for the server's report. */
  readonly cursor: Buffer
  /** Encrypts what letters hold. */
  readonly mail: Buffer
  /** Hashes mailed codes and network addresses. */
  readonly shop: Buffer
  /** Signs the ids of agents' programs. */
  readonly client: Buffer
}

/**
 * The keys of the state folder, or of a PostgreSQL; those that are missing are made.
 * @throws Error, for the operator, when one can't be read or made
 */
export async function openKeys(store: ControlStore, folder: string): Promise<Keys> {
  return {
    cursor: await keyOf(store, folder, 'cursor.key'),
    mail: await keyOf(store, folder, 'mail.key'),
    shop: await keyOf(store, folder, 'shop.key'),
    client: await keyOf(store, folder, 'client.key'),
  }
}
