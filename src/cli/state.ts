import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ServerLock } from '../control/store/server-lock.js'
import { ControlStore } from '../control/store/store.js'
import { ServiceError } from '../errors.js'
import { stateFailure } from './state-failure.js'

/**
 * Runs `work`, which writes, over the state folder's control.db, which is made where there is none.
 * Returns only when what was written is in the file that a server reads.
 */
export function withStore<T>(stateFolder: string, work: (store: ControlStore) => T): T {
  const store = openToWrite(stateFolder)
  try {
    const result = work(store)
    requireInPlace(store)
    return result
  } catch (cause) {
    throw commandFailure(stateFolder, cause)
  } finally {
    store.close()
  }
}

/**
 * The same for commands that need what is stored.
 * @throws Error for the operator where there is no control.db
 */
export function withFilledStore<T>(stateFolder: string, work: (store: ControlStore) => T): T {
  requireStore(stateFolder)
  return withStore(stateFolder, work)
}

/** The same for work that takes its time. */
export async function withFilledStoreAsync<T>(
  stateFolder: string,
  work: (store: ControlStore) => Promise<T>,
): Promise<T> {
  requireStore(stateFolder)
  const store = openToWrite(stateFolder)
  try {
    const result = await work(store)
    requireInPlace(store)
    return result
  } catch (cause) {
    throw commandFailure(stateFolder, cause)
  } finally {
    store.close()
  }
}

/**
 * Runs `work`, which only reads: control.db is neither made nor migrated, whatever release wrote it.
 * `undefined` where there is none: a misspelled folder is not made, and nothing is found.
 */
export function readStore<T>(stateFolder: string, work: (store: ControlStore) => T): T | undefined {
  if (!existsSync(controlPath(stateFolder))) return undefined
  const store = openToRead(stateFolder)
  try {
    return work(store)
  } catch (cause) {
    throw readFailure(stateFolder, store, cause)
  } finally {
    store.close()
  }
}

/**
 * The same for commands that need what is stored.
 * @throws Error for the operator where there is no control.db
 */
export function readFilledStore<T>(stateFolder: string, work: (store: ControlStore) => T): T {
  requireStore(stateFolder)
  return readStore(stateFolder, work) as T
}

/** The same for work that takes its time. */
export async function readFilledStoreAsync<T>(
  stateFolder: string,
  work: (store: ControlStore) => Promise<T>,
): Promise<T> {
  requireStore(stateFolder)
  const store = openToRead(stateFolder)
  try {
    return await work(store)
  } catch (cause) {
    throw readFailure(stateFolder, store, cause)
  } finally {
    store.close()
  }
}

function requireStore(stateFolder: string): void {
  if (existsSync(controlPath(stateFolder))) return
  throw new Error(
    `There is no control.db in ${resolve(stateFolder)}: nothing was sold there yet. Another ` +
      'state folder is named with --state or DAS_STATE.',
  )
}

function requireInPlace(store: ControlStore): void {
  if (store.isInPlace) return
  throw new Error(
    'control.db was replaced while the command ran: what it wrote is in the former file, which no ' +
      'server reads. Run the command again.',
  )
}

function controlPath(stateFolder: string): string {
  return join(resolve(stateFolder), 'control.db')
}

function lockPath(stateFolder: string): string {
  return join(resolve(stateFolder), 'server.lock')
}

function openToRead(stateFolder: string): ControlStore {
  try {
    return ControlStore.openToRead(controlPath(stateFolder))
  } catch (cause) {
    throw stateFailure(stateFolder, cause)
  }
}

/** Of an older schema, nothing migrates it under a server that knows no newer one. */
function openToWrite(stateFolder: string): ControlStore {
  const path = controlPath(stateFolder)
  const locks: ServerLock[] = []
  try {
    if (!existsSync(path)) refuseNewBesideServer(stateFolder)
    return ControlStore.open(path, {
      beforeUpgrade: (version) => {
        locks.push(takeForUpgrade(stateFolder, version))
      },
    })
  } catch (cause) {
    throw stateFailure(stateFolder, cause)
  } finally {
    for (const lock of locks) lock.release()
  }
}

/** A server had one: it was moved away, and another will be put in its place. */
function refuseNewBesideServer(stateFolder: string): void {
  if (!ServerLock.isHeld(lockPath(stateFolder))) return
  throw new Error(
    `A server runs over ${resolve(stateFolder)}, and its control.db is gone: restore it first ` +
      '(docs/operating.md, "Restore").',
  )
}

function takeForUpgrade(stateFolder: string, version: number): ServerLock {
  if (!ServerLock.isHeld(lockPath(stateFolder))) return ServerLock.take(lockPath(stateFolder))
  throw new Error(
    `control.db has schema version ${version}, of an older release, and a server runs over it. Stop ` +
      'that server and start this release, das serve, which upgrades it; then run the command again.',
  )
}

/** What SQLite says is said of the folder; a caller's mistake stays what it is. */
function commandFailure(stateFolder: string, cause: unknown): unknown {
  const isOurs = cause instanceof ServiceError && cause.code === 'service_unavailable'
  return isOurs ? stateFailure(stateFolder, cause) : cause
}

function readFailure(stateFolder: string, store: ControlStore, cause: unknown): unknown {
  if (!store.isOutdated || !isMissing(cause)) return commandFailure(stateFolder, cause)
  return new Error(
    `control.db in ${resolve(stateFolder)} has schema version ${store.schemaVersion}, of an older ` +
      "release, which this command can't read. das serve of this release upgrades it.",
    { cause },
  )
}

/** A table or column that a later schema has. */
function isMissing(cause: unknown): boolean {
  return cause instanceof Error && /^no such (table|column): /.test(cause.message)
}
