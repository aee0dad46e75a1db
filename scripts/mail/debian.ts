import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runWell } from './run.js'

/**
 * Downloads packages of Debian, with all that they depend on, next to `root` and unpacks them into
 * it: a system of their own, to be entered with chroot. Nothing is installed, so no user is made, no
 * service is started and no package of this machine has to go.
 * @throws Error with apt's reason
 */
export async function unpackPackages(root: string, packages: readonly string[]): Promise<void> {
  const [cache, state] = [`${root}-cache`, `${root}-dpkg`]
  const archives = join(cache, 'archives')
  await mkdir(join(archives, 'partial'), { recursive: true })
  await mkdir(state)
  // Says that nothing is installed: the libraries are wanted as well.
  await writeFile(join(state, 'status'), '')
  const places = ['-o', `Dir::Cache=${cache}`, '-o', `Dir::State::status=${join(state, 'status')}`]
  await runWell('apt-get', ['update', '-qq'])
  const options = ['-y', '-qq', '--download-only', '--no-install-recommends', ...places]
  await runWell('apt-get', ['install', ...options, ...packages])
  for (const name of await readdir(archives)) {
    if (name.endsWith('.deb')) await runWell('dpkg', ['-x', join(archives, name), root])
  }
}
