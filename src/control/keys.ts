import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { keyBytes, keyIn, readKey } from './store/key-file.js'
import { insertInto, sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

/** What keys are for: cursors, secrets in letters, mailed codes, ids of agents. */
export const keyNames = ['cursor.key', 'mail.key', 'shop.key', 'client.key'] as const
export type KeyName = (typeof keyNames)[number]

/**
 * A key of 256 bits, made once: a file of the state folder beside control.db, or a row of a
 * PostgreSQL, so that its servers have the same.
 *
 * @throws Error, for the operator, when it can't be read or made; service_unavailable
 */
export async function keyOf(store: ControlStore, folder: string, name: KeyName): Promise<Buffer> {
  return store.file === null
    ? await sharedKey(store, name)
    : keyIn(join(folder, name), store.random)
}

/**
 * Like `keyOf`, but makes no key: null when there is none yet.
 * @throws Error, for the operator, when it can't be read; service_unavailable
 */
export async function findKey(
  store: ControlStore,
  folder: string,
  name: KeyName,
): Promise<Buffer | null> {
  if (store.file === null) return await storedKey(store, name)
  const path = join(folder, name)
  return existsSync(path) ? readKey(path) : null
}

/**
 * Stores the keys of a state folder for the servers of a PostgreSQL, and resolves to their names. A
 * key that the folder lacks is not made.
 *
 * @throws Error, for the operator, when a file can't be read, or the PostgreSQL has another key;
 *   service_unavailable
 */
export async function copyKeys(folder: string, to: ControlStore): Promise<readonly KeyName[]> {
  const names = keyNames.filter((name) => existsSync(join(folder, name)))
  for (const name of names) {
    const value = readKey(join(folder, name))
    await storeKey(to, name, value)
    if ((await storedKey(to, name))?.equals(value)) continue
    throw new Error(`the PostgreSQL has another ${name} already: copy into an empty schema`)
  }
  return names
}

async function sharedKey(store: ControlStore, name: KeyName): Promise<Buffer> {
  await storeKey(store, name, store.random.bytes(keyBytes))
  const found = await storedKey(store, name)
  if (found !== null) return found
  throw new Error(`the key ${name} was removed from the PostgreSQL`)
}

async function storedKey(store: ControlStore, name: KeyName): Promise<Buffer | null> {
  const [found] = await store.all<{ value: Buffer }>(
    sql`SELECT value FROM keys WHERE name = ${name}`,
  )
  if (found === undefined) return null
  if (found.value.length === keyBytes) return found.value
  throw new Error(`the key ${name} in the PostgreSQL is damaged`)
}

/** A key that is there stays. */
async function storeKey(store: ControlStore, name: KeyName, value: Buffer): Promise<void> {
  await store.run(sql`${insertInto('keys', { name, value })} ON CONFLICT (name) DO NOTHING`)
}
