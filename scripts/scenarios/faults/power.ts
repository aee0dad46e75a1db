import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Run } from '../../harness/script.js'
import { randomOf } from '../../harness/random.js'
import { system } from '../../harness/process.js'
import { eventually } from '../../harness/wait.js'
import type { FaultCase } from './site.js'

const imageSize = '96M'
/** Nothing but a sync writes to the device in a run. */
const options = 'loop,commit=300'

const stopWait = { withinMs: 30_000, everyMs: 5 }

const imageOf = (folder: string) => `${folder}.img`

/** A file system of its own on a file, whose bytes are what a disk would hold. */
async function mountImage(folder: string, { cleanup }: Run): Promise<void> {
  const image = imageOf(folder)
  cleanup.add(() => system('rm', '-f', image, `${image}.cut`))
  await system('truncate', '-s', imageSize, image)
  await system('mkfs.ext4', '-q', image)
  await system('mount', '-o', options, image, folder)
  cleanup.add(() => system('umount', folder))
}

/** Waits until no thread runs: a sync that has begun ends first, and would keep later writes too. */
function untilStopped(pid: number): Promise<true> {
  const threads = `/proc/${pid}/task`
  const isStopped = (thread: string) => {
    const stat = readFileSync(join(threads, thread, 'stat'), 'utf8')
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T')
  }
  return eventually('every thread is stopped', stopWait, () =>
    Promise.resolve(readdirSync(threads).every(isStopped) || undefined),
  )
}

/** The power goes: what was not synced is forgotten. */
export const powerFaults: readonly FaultCase[] = [
  {
    name: 'power cut',
    about: 'the disk keeps what was synced and nothing else; then all starts again',
    needs: 'mount',
    mount: mountImage,
    strike: async (site) => {
      const { folder } = site.fixture
      const image = imageOf(folder)
      await system('sync', '-f', folder)
      await site.wait(randomOf(Number(site.pid)).whole(100, 800))
      // Stopped, so that no sync falls between two parts of the copy.
      site.server.child.kill('SIGSTOP')
      await untilStopped(site.server.child.pid ?? 0)
      const unsynced = join(folder, 'unsynced')
      await writeFile(unsynced, 'x')
      await system('cp', '--sparse=always', image, `${image}.cut`)
      await site.server.end('SIGKILL')
      await system('umount', folder)
      await rename(`${image}.cut`, image)
      await system('mount', '-o', options, image, folder)
      if (existsSync(unsynced)) throw new Error('the cut kept what was not synced')
      await site.start()
    },
  },
]
