import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ServerLock } from '../control/store/server-lock.js'
import { ControlStore } from '../control/store/store.js'
import { ServiceError } from '../errors.js'
import type { CliParts } from './parts.js'
import { stateFailure } from './state-failure.js'

type Work<T> = (store: ControlStore) => T | Promise<T>

/** Who runs the command, for the audit trail. */
type Actor = Pick<CliParts, 'user'>

/**
 * Runs `work`, which writes, over control.db in the state folder; creates it if it is missing.
 * Resolves only when everything that was written is in the file that a server reads.
 */
export async function withStore<T>(actor: Actor, stateFolder: string, work: Work<T>): Promise<T> {
  const store = openToWrite(actor, stateFolder)
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
 * Runs `work`, which writes, over an existing control.db.
 * @throws Error when the state folder has no control.db
 */
export async function withFilledStore<T>(
  actor: Actor,
  stateFolder: string,
  work: Work<T>,
): Promise<T> {
  requireStore(stateFolder)
  return await withStore(actor, stateFolder, work)
}

/**
 * Runs `work`, which only reads: control.db is neither created nor migrated, whatever release
 * wrote it. Resolves to `undefined` when there is no control.db.
 */
export async function readStore<T>(stateFolder: string, work: Work<T>): Promise<T | undefined> {
  return existsSync(controlPath(stateFolder)) ? await readFilledStore(stateFolder, work) : undefined
}

/**
 * Runs `work`, which only reads, over an existing control.db.
 * @throws Error when the state folder has no control.db
 */
export async function readFilledStore<T>(stateFolder: string, work: Work<T>): Promise<T> {
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
    `There is no control.db in ${resolve(stateFolder)}: nothing was sold there yet. Name another ` +
      'state folder with --state or DAS_STATE.',
  )
}

function requireInPlace(store: ControlStore): void {
  if (store.isInPlace) return
  throw new Error(
    'control.db was replaced while the command ran: its changes are in the old file, which no ' +
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

/** Migrates an older schema only while no server runs: that server can't read a newer one. */
function openToWrite({ user }: Actor, stateFolder: string): ControlStore {
  const path = controlPath(stateFolder)
  const locks: ServerLock[] = []
  try {
    if (!existsSync(path)) refuseNewBesideServer(stateFolder)
    return ControlStore.open(path, {
      actor: user,
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

/** The running server's control.db was moved away, and the owner will restore one in its place. */
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
    `control.db has schema version ${version}, of an older release, and a server runs over it. ` +
      'Stop that server, start this release with das serve, which upgrades control.db, and run ' +
      'the ' +
      'command again.',
  )
}

/** Explains an error of the store by the state folder; other errors stay as they are. */
function commandFailure(stateFolder: string, cause: unknown): unknown {
  const isOfStore = cause instanceof ServiceError && cause.code === 'service_unavailable'
  return isOfStore ? stateFailure(stateFolder, cause) : cause
}

function readFailure(stateFolder: string, store: ControlStore, cause: unknown): unknown {
  if (!store.isOutdated || !lacksTableOrColumn(cause)) return commandFailure(stateFolder, cause)
  return new Error(
    `control.db in ${resolve(stateFolder)} has schema version ${store.schemaVersion}, of an ` +
      "older release, which this command can't read. das serve of this release upgrades it.",
    { cause },
  )
}

function lacksTableOrColumn(cause: unknown): boolean {
  return cause instanceof Error && /^no such (table|column): /.test(cause.message)
}
