import { resolve } from 'node:path'
import type { SqliteStore } from '../control/store/sqlite-store.js'
import type { ControlStore } from '../control/store/store.js'
import { readSettings } from './command.js'
import { withDatabase } from './database.js'
import type { CliParts } from './parts.js'
import { hasFile, readFile, requireFile, withFile } from './state-file.js'
import type { StateFile } from './state-file.js'

type Work<T> = (store: ControlStore) => T | Promise<T>

/** Who runs the command, for the audit trail, and where the control store is. */
type Actor = Pick<CliParts, 'user' | 'environment' | 'clock' | 'random'>

/**
 * Runs `work`, which writes, over the control store: the PostgreSQL of DAS_CONTROL_URL, else
 * control.db in the state folder, which is created if it is missing. Resolves only when everything
 * that was written is where a server reads it.
 */
export async function withStore<T>(actor: Actor, stateFolder: string, work: Work<T>): Promise<T> {
  const url = controlUrlOf(actor)
  if (url !== null) return await withDatabase(actor, url, work)
  return await withFile(actor, controlFile(stateFolder), work)
}

/**
 * Runs `work`, which writes, over an existing control store.
 * @throws Error when the state folder has no control.db
 */
export async function withFilledStore<T>(
  actor: Actor,
  stateFolder: string,
  work: Work<T>,
): Promise<T> {
  if (controlUrlOf(actor) === null) requireFile(controlFile(stateFolder))
  return await withStore(actor, stateFolder, work)
}

/**
 * Runs `work`, which only reads: control.db is neither created nor migrated, whatever release
 * wrote it. Resolves to `undefined` when there is no control.db.
 */
export async function readStore<T>(
  actor: Actor,
  stateFolder: string,
  work: Work<T>,
): Promise<T | undefined> {
  const isThere = controlUrlOf(actor) !== null || hasFile(controlFile(stateFolder))
  return isThere ? await readFilledStore(actor, stateFolder, work) : undefined
}

/**
 * Runs `work`, which only reads, over an existing control store.
 * @throws Error when the state folder has no control.db
 */
export async function readFilledStore<T>(
  actor: Actor,
  stateFolder: string,
  work: Work<T>,
): Promise<T> {
  const url = controlUrlOf(actor)
  if (url !== null) return await withDatabase(actor, url, work)
  return await readFile(actor, controlFile(stateFolder), work)
}

/**
 * Runs `work`, which only reads, over what the server of this state folder reports about itself.
 * Resolves to `undefined` before its first start.
 */
export async function readLocalStore<T>(
  actor: Actor,
  stateFolder: string,
  work: Work<T>,
): Promise<T | undefined> {
  const file = localFile(actor, stateFolder)
  return hasFile(file) ? await readFile(actor, file, work) : undefined
}

/**
 * Runs `work`, which writes, over what the server of this state folder reads of its own.
 * @throws Error when no server has run there
 */
export async function withLocalStore<T>(
  actor: Actor,
  stateFolder: string,
  work: Work<T>,
): Promise<T> {
  const file = localFile(actor, stateFolder)
  requireFile(file)
  return await withFile(actor, file, work)
}

/** Reads the file itself, which only the default control store has. */
export async function readControlFile<T>(
  actor: Actor,
  stateFolder: string,
  work: (store: SqliteStore) => T | Promise<T>,
): Promise<T> {
  return await readFile(actor, controlFile(stateFolder), work)
}

/** The PostgreSQL that holds the control store; null = control.db does. */
export function controlUrlOf({ environment }: Pick<CliParts, 'environment'>): string | null {
  return readSettings(['controlUrl'], {}, environment).controlUrl
}

/** Where the control store is, for people. */
export function storeName(parts: Pick<CliParts, 'environment'>, stateFolder: string): string {
  return controlUrlOf(parts) === null ? resolve(stateFolder) : 'the PostgreSQL of DAS_CONTROL_URL'
}

/** The control store as a file, where no PostgreSQL holds it. */
export function controlFile(folder: string): StateFile {
  return { folder, name: 'control.db' }
}

function localFile(actor: Actor, folder: string): StateFile {
  return { folder, name: controlUrlOf(actor) === null ? 'control.db' : 'server.db' }
}
