import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ServerLock } from '../control/store/server-lock.js'
import { SqliteStore } from '../control/store/sqlite-store.js'
import type { StoreParts } from '../control/store/store.js'
import { ServiceError } from '../errors.js'
import { stateFailure } from './state-failure.js'
import type { FileName } from './state-failure.js'

/** One of the files of a state folder. */
export interface StateFile {
  readonly folder: string
  readonly name: FileName
}

type Actor = StoreParts & { readonly user: string }

type Work<T> = (store: SqliteStore) => T | Promise<T>

/** What it means that a file is missing. */
const missing: Readonly<Record<FileName, string>> = {
  'control.db': 'nothing was sold there yet',
  'server.db': 'no server has run there yet',
}

/**
 * Runs `work`, which writes, over a file of the state folder; creates it if it is missing. Resolves
 * only when everything that was written is in the file that a server reads. The user is for the
 * audit trail.
 */
export async function withFile<T>(actor: Actor, file: StateFile, work: Work<T>): Promise<T> {
  const store = openToWrite(actor, file)
  try {
    const result = await work(store)
    requireInPlace(store, file)
    return result
  } catch (cause) {
    throw commandFailure(file, cause)
  } finally {
    await store.close()
  }
}

/** Runs `work`, which only reads: the file is not migrated. @throws Error when it is missing */
export async function readFile<T>(parts: StoreParts, file: StateFile, work: Work<T>): Promise<T> {
  requireFile(file)
  const store = openToRead(parts, file)
  try {
    return await work(store)
  } catch (cause) {
    throw readFailure(file, store, cause)
  } finally {
    await store.close()
  }
}

/** Whether the state folder has the file. */
export function hasFile({ folder, name }: StateFile): boolean {
  return existsSync(join(resolve(folder), name))
}

/** @throws Error when the state folder does not have the file */
export function requireFile(file: StateFile): void {
  if (hasFile(file)) return
  const { folder, name } = file
  throw new Error(
    `There is no ${name} in ${resolve(folder)}: ${missing[name]}. Name another state folder with ` +
      '--state or DAS_STATE.',
  )
}

function requireInPlace({ file }: SqliteStore, { name }: StateFile): void {
  if (file.isInPlace) return
  throw new Error(
    `${name} was replaced while the command ran: its changes are in the old file, which no ` +
      'server reads. Run the command again.',
  )
}

function pathOf({ folder, name }: StateFile): string {
  return join(resolve(folder), name)
}

/** The path of the lock that a server holds. */
export function lockPath(stateFolder: string): string {
  return join(resolve(stateFolder), 'server.lock')
}

function openToRead({ clock, random }: StoreParts, file: StateFile): SqliteStore {
  try {
    return SqliteStore.openToRead(pathOf(file), { clock, random })
  } catch (cause) {
    throw stateFailure(file.folder, cause, file.name)
  }
}

/** Migrates an older schema only while no server runs: that server can't read a newer one. */
function openToWrite({ user, clock, random }: Actor, file: StateFile): SqliteStore {
  const locks: ServerLock[] = []
  try {
    if (!hasFile(file)) refuseNewBesideServer(file)
    return SqliteStore.open(pathOf(file), {
      actor: user,
      clock,
      random,
      beforeUpgrade: (version) => {
        locks.push(takeForUpgrade(file, version))
      },
    })
  } catch (cause) {
    throw stateFailure(file.folder, cause, file.name)
  } finally {
    for (const lock of locks) lock.release()
  }
}

/** The running server's file was moved away, and the owner will restore one in its place. */
function refuseNewBesideServer({ folder, name }: StateFile): void {
  if (!ServerLock.isHeld(lockPath(folder))) return
  throw new Error(
    `A server runs over ${resolve(folder)}, and its ${name} is gone: restore it first ` +
      '(docs/operating.md, "Restore").',
  )
}

function takeForUpgrade({ folder, name }: StateFile, version: number): ServerLock {
  if (!ServerLock.isHeld(lockPath(folder))) return ServerLock.take(lockPath(folder))
  throw new Error(
    `${name} has schema version ${version}, of an older release, and a server runs over it. ` +
      `Stop that server, start this release with das serve, which upgrades ${name}, and run the ` +
      'command again.',
  )
}

/** Explains an error of the store by the state folder; other errors stay as they are. */
function commandFailure({ folder, name }: StateFile, cause: unknown): unknown {
  const isOfStore = cause instanceof ServiceError && cause.code === 'service_unavailable'
  return isOfStore ? stateFailure(folder, cause, name) : cause
}

/** An older release wrote the store: it lacks what the command reads. */
export class OutdatedState extends Error {}

function readFailure(state: StateFile, { file }: SqliteStore, cause: unknown): unknown {
  if (!file.isOutdated || !lacksTableOrColumn(cause)) return commandFailure(state, cause)
  return new OutdatedState(
    `${state.name} in ${resolve(state.folder)} has schema version ${file.schemaVersion}, of an ` +
      "older release, which this command can't read. das serve of this release upgrades it.",
    { cause },
  )
}

function lacksTableOrColumn(cause: unknown): boolean {
  return cause instanceof Error && /^no such (table|column): /.test(cause.message)
}
