import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { changesFolderOf, versionsFolderOf } from '../catalog.js'
import { ServerLock } from '../control/store/server-lock.js'
import { ChangeSets } from '../versions/changes/change-sets.js'
import type { CleanupStack } from './cleanup-stack.js'

/** The folders of a server's state, as absolute paths. */
export interface StateFolder {
  readonly folder: string
  readonly versions: string
  /** What differs between versions. */
  readonly changes: string
  readonly sets: ChangeSets
  readonly temp: string
}

/** Reserves the state folder, makes its folders for its owner only, and empties `temp`. */
export async function openState(path: string, cleanup: CleanupStack): Promise<StateFolder> {
  const folder = resolve(path)
  cleanup.adopt(ServerLock.take(join(folder, 'server.lock')), (lock) => {
    lock.release()
  })
  const [versions, changes] = [versionsFolderOf(path), changesFolderOf(path)]
  const sets = new ChangeSets(changes)
  const state = { folder, versions, changes, sets, temp: join(folder, 'tmp') }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await rm(state.temp, { recursive: true, force: true })
  await mkdir(state.temp, { mode: 0o700 })
  await mkdir(state.versions, { recursive: true, mode: 0o700 })
  return state
}
