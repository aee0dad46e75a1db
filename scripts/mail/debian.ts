import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../harness/process.js'

/**
 * Downloads packages of Debian with their dependencies next to `root`, and unpacks them into it: a
 * system of their own, entered with chroot. Nothing is installed on this machine.
 * @throws Error with apt's reason
 */
export async function unpackPackages(root: string, packages: readonly string[]): Promise<void> {
  const [cache, state] = [`${root}-cache`, `${root}-dpkg`]
  const archives = join(cache, 'archives')
  await mkdir(join(archives, 'partial'), { recursive: true })
  await mkdir(state)
  // An empty status means that nothing is installed, so apt downloads the libraries too.
  await writeFile(join(state, 'status'), '')
  const places = ['-o', `Dir::Cache=${cache}`, '-o', `Dir::State::status=${join(state, 'status')}`]
  await runWell('apt-get', ['update', '-qq'])
  const options = ['-y', '-qq', '--download-only', '--no-install-recommends', ...places]
  await runWell('apt-get', ['install', ...options, ...packages])
  for (const name of await readdir(archives)) {
    if (name.endsWith('.deb')) await runWell('dpkg', ['-x', join(archives, name), root])
  }
}

/**
 * Runs a command that must succeed.
 * @throws Error with the last line that it wrote
 */
export async function runWell(command: string, argv: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram({ command, argv })
  if (code === 0) return
  throw new Error(`${command} ${argv[0]} ended: ${code}: ${stderr.trim().split('\n').at(-1)}`)
}
