import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Run } from '../../harness/script.js'
import { system } from '../../harness/process.js'
import { startRefused } from './site.js'
import type { FaultCase } from './site.js'

const holdMs = 2000
const tmpfsSize = '48m'

/** A small file system in memory, which can really be full. */
async function mountSmall(folder: string, { cleanup }: Run): Promise<void> {
  await system('mount', '-t', 'tmpfs', '-o', `size=${tmpfsSize}`, 'none', folder)
  cleanup.add(() => system('umount', '-l', folder))
}

async function fill(path: string): Promise<void> {
  const chunk = Buffer.alloc(64 * 1024, 1)
  for (const size of [chunk.length, 4096, 1]) {
    for (;;) {
      try {
        await writeFile(path, chunk.subarray(0, size), { flag: 'a' })
      } catch {
        break
      }
    }
  }
}

/** The disk has no room, or can't be written. */
export const diskFaults: readonly FaultCase[] = [
  {
    name: 'full disk',
    about: `the file system is full for ${holdMs / 1000} s (ENOSPC, on a tmpfs)`,
    needs: 'mount',
    mount: mountSmall,
    strike: async (site) => {
      const filler = join(site.fixture.folder, 'filler')
      await fill(filler)
      await site.wait(holdMs)
      await rm(filler)
    },
  },
  {
    name: 'failing writes',
    about: `every write of the process fails for ${holdMs / 1000} s (EFBIG)`,
    strike: async (site) => {
      await system('prlimit', '--pid', site.pid, '--fsize=0:unlimited')
      await site.wait(holdMs)
      await system('prlimit', '--pid', site.pid, '--fsize=unlimited:unlimited')
    },
  },
  {
    name: 'read-only state',
    needs: 'mount',
    about: 'the server is stopped, and started while the state folder is read-only',
    strike: async (site) => {
      const state = join(site.fixture.folder, 'state')
      await site.server.end('SIGTERM')
      await system('mount', '--bind', state, state)
      try {
        await system('mount', '-o', 'remount,bind,ro', state)
        await startRefused(site, 'a read-only state')
      } finally {
        await system('umount', state)
      }
      await site.start()
    },
  },
  {
    name: 'vanished versions',
    about: 'the stored versions are removed under load',
    strike: async (site) => {
      await rm(join(site.fixture.folder, 'state', 'versions'), { recursive: true })
      await site.wait(holdMs)
    },
  },
  {
    name: 'vanished files',
    about: `the dropped files are away for ${holdMs / 1000} s`,
    strike: async (site) => {
      const data = join(site.fixture.folder, 'data')
      const aside = join(site.fixture.folder, 'aside')
      await cp(data, aside, { recursive: true, preserveTimestamps: true })
      await rm(data, { recursive: true })
      await site.wait(holdMs)
      await cp(aside, data, { recursive: true, preserveTimestamps: true })
    },
  },
]
