import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { versionsFolderOf } from '../catalog.js'

/** The folders of a server's state, as absolute paths. */
export interface StateFolder {
  readonly folder: string
  readonly versions: string
  readonly temp: string
}

/** Makes the folders of a server's state, readable by its owner only, and empties `temp`. */
export async function prepareState(path: string): Promise<StateFolder> {
  const folder = resolve(path)
  const state = { folder, versions: versionsFolderOf(path), temp: join(folder, 'tmp') }
  await mkdir(state.folder, { recursive: true, mode: 0o700 })
  await rm(state.temp, { recursive: true, force: true })
  await mkdir(state.temp, { mode: 0o700 })
  await mkdir(state.versions, { recursive: true, mode: 0o700 })
  return state
}
