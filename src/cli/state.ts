import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ControlStore } from '../control/store.js'

/** Runs `work` over the state folder's control.db, which is made where there is none. */
export function withStore<T>(stateFolder: string, work: (store: ControlStore) => T): T {
  const store = openStore(stateFolder)
  try {
    return work(store)
  } finally {
    store.close()
  }
}

/**
 * The same for commands that only look: a misspelled folder is not made, and nothing is found.
 * `undefined` where there is no control.db.
 */
export function withExistingStore<T>(
  stateFolder: string,
  work: (store: ControlStore) => T,
): T | undefined {
  return existsSync(controlPath(stateFolder)) ? withStore(stateFolder, work) : undefined
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
  const store = openStore(stateFolder)
  try {
    return await work(store)
  } finally {
    store.close()
  }
}

/** The system's or SQLite's refusal, said of the state folder; every other error as it is. */
export function stateFailure(stateFolder: string, cause: unknown): unknown {
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (typeof code !== 'string' || !/^(E[A-Z]+|SQLITE_\w+)$/.test(code)) return cause
  const why = (cause as Error).message
  return new Error(
    `The state folder ${resolve(stateFolder)} can't be used: ${why}. Another is named with ` +
      '--state or DAS_STATE.',
    { cause },
  )
}

function requireStore(stateFolder: string): void {
  if (existsSync(controlPath(stateFolder))) return
  throw new Error(
    `There is no control.db in ${resolve(stateFolder)}: nothing was sold there yet. Another ` +
      'state folder is named with --state or DAS_STATE.',
  )
}

function controlPath(stateFolder: string): string {
  return join(resolve(stateFolder), 'control.db')
}

function openStore(stateFolder: string): ControlStore {
  try {
    return ControlStore.open(controlPath(stateFolder))
  } catch (cause) {
    throw stateFailure(stateFolder, cause)
  }
}
