import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { versionsFolderOf } from '../catalog.js'

/** Makes the folders of a server's state, readable by its owner only, and empties `temp`. */
export async function prepareState(folder: string) {
  const state = { folder: resolve(folder), versions: versionsFolderOf(folder), temp: '' }
  state.temp = join(state.folder, 'tmp')
  await mkdir(state.folder, { recursive: true, mode: 0o700 })
  await rm(state.temp, { recursive: true, force: true })
  await mkdir(state.temp, { mode: 0o700 })
  await mkdir(state.versions, { recursive: true, mode: 0o700 })
  return state
}
