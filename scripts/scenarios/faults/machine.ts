import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { demand, eventually } from '../../harness/fault.js'
import { das } from '../../harness/fixture.js'
import { system } from '../../harness/process.js'
import { randomOf } from '../../harness/random.js'
import type { Run } from '../../harness/script.js'
import { sum } from '../../harness/statistics.js'
import { pidOf, startRefused, wait } from './site.js'
import type { FaultCase, Site } from './site.js'

const holdMs = 2000
const pauseMs = 3000
const stormRestarts = 4
const stepDays = 40
const tmpfsSize = '48m'
const imageSize = '96M'
/** Nothing but a sync writes to the device in a run. */
const imageOptions = 'loop,commit=300'
const stopWait = { withinMs: 30_000, everyMs: 5 }

const clockOf = (folder: string) => join(folder, 'clock')
const imageOf = (folder: string) => `${folder}.img`

/** The process is killed, stopped or restarted. */
const processFaults: readonly FaultCase[] = [
  {
    name: 'kill -9',
    about: 'the server is killed, and started again',
    strike: async (site) => {
      await wait(site, randomOf(Number(pidOf(site))).whole(5, 500))
      await site.restart('SIGKILL')
    },
  },
  {
    name: 'stopped process',
    about: `the server gets SIGSTOP, and SIGCONT after ${pauseMs / 1000} s`,
    strike: async (site) => {
      site.server().child.kill('SIGSTOP')
      await wait(site, pauseMs)
      site.server().child.kill('SIGCONT')
    },
  },
  {
    name: 'restart storm',
    about: `${stormRestarts} restarts after another; walks go on with their old cursors`,
    strike: async (site) => {
      for (let restart = 0; restart < stormRestarts; restart++) {
        await site.restart('SIGTERM')
        await wait(site, 200)
      }
    },
  },
  {
    name: 'no descriptors',
    about: `the process may open no more files (EMFILE) for ${holdMs / 1000} s`,
    strike: (site) => limitFor(site, '--nofile=24:', '--nofile=4096:'),
  },
]

/** The disk has no room, or can't be written; its power goes. */
const diskFaults: readonly FaultCase[] = [
  {
    name: 'full disk',
    about: `the file system is full for ${holdMs / 1000} s (ENOSPC, on a tmpfs)`,
    needs: 'mount',
    mount: mountSmall,
    strike: async (site) => {
      const filler = join(site.fixture.folder, 'filler')
      await fill(filler)
      await wait(site, holdMs)
      await rm(filler)
    },
  },
  {
    name: 'failing writes',
    about: `every write of the process fails for ${holdMs / 1000} s (EFBIG)`,
    strike: (site) => limitFor(site, '--fsize=0:unlimited', '--fsize=unlimited:unlimited'),
  },
  {
    name: 'read-only state',
    needs: 'mount',
    about: 'the server is stopped, and started while the state folder is read-only',
    strike: async (site) => {
      const state = join(site.fixture.folder, 'state')
      await site.server().end('SIGTERM')
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
      await wait(site, holdMs)
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
      await wait(site, holdMs)
      await cp(aside, data, { recursive: true, preserveTimestamps: true })
    },
  },
  {
    name: 'power cut',
    about: 'the disk keeps what was synced and nothing else; then all starts again',
    needs: 'mount',
    mount: mountImage,
    strike: cutPower,
  },
]

/** The clock of the machine is wrong. */
const clockFault: FaultCase = {
  name: 'clock steps',
  about: `the clock is ${stepDays} days ahead for ${holdMs / 1000} s, then right again; das usage --repair follows`,
  needs: 'faketime',
  start: async (folder) => {
    await writeFile(clockOf(folder), '+0d')
    const settings = {
      LD_PRELOAD: await faketime(),
      FAKETIME_TIMESTAMP_FILE: clockOf(folder),
      FAKETIME_NO_CACHE: '1',
      // Timers and times of files stay those of the machine.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    }
    return { settings }
  },
  strike: async (site) => {
    const clock = clockOf(site.fixture.folder)
    await writeFile(clock, `+${stepDays}d`)
    await wait(site, holdMs)
    await writeFile(clock, '+0d')
    await wait(site, holdMs)
    const printed = await das(site.fixture, ['usage', '--repair', '--json'])
    const moved = JSON.parse(printed) as readonly { readonly rows: number }[]
    site.notes.push(`das usage --repair moved ${sum(moved.map(({ rows }) => rows))} rows back`)
  },
}

/** What a machine does to its programs. */
export const machineFaults: readonly FaultCase[] = [...processFaults, ...diskFaults, clockFault]

/** What the loader needs to put libfaketime before the C library; fails where it is missing. */
export async function faketime(): Promise<string> {
  return (await system('faketime', '-m', '-f', '+0', 'printenv', 'LD_PRELOAD')).trim()
}

/** Takes something from the process for a while. */
async function limitFor(site: Site, limit: string, back: string): Promise<void> {
  await system('prlimit', '--pid', pidOf(site), limit)
  await wait(site, holdMs)
  await system('prlimit', '--pid', pidOf(site), back)
}

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

/** A file system of its own on a file, whose bytes are what a disk would hold. */
async function mountImage(folder: string, { cleanup }: Run): Promise<void> {
  const image = imageOf(folder)
  cleanup.add(() => system('rm', '-f', image, `${image}.cut`))
  await system('truncate', '-s', imageSize, image)
  await system('mkfs.ext4', '-q', image)
  await system('mount', '-o', imageOptions, image, folder)
  cleanup.add(() => system('umount', folder))
}

async function cutPower(site: Site): Promise<void> {
  const { folder } = site.fixture
  const image = imageOf(folder)
  await system('sync', '-f', folder)
  await wait(site, randomOf(Number(pidOf(site))).whole(100, 800))
  // Stopped, so that no sync falls between two parts of the copy.
  site.server().child.kill('SIGSTOP')
  await untilStopped(pidOf(site))
  const unsynced = join(folder, 'unsynced')
  await writeFile(unsynced, 'x')
  await system('cp', '--sparse=always', image, `${image}.cut`)
  await site.server().end('SIGKILL')
  await system('umount', folder)
  await rename(`${image}.cut`, image)
  await system('mount', '-o', imageOptions, image, folder)
  demand(!existsSync(unsynced), 'the cut kept what was not synced')
  await site.start()
}

/** Waits until no thread runs: a sync that has begun ends first, and would keep later writes too. */
function untilStopped(pid: string): Promise<true> {
  const threads = `/proc/${pid}/task`
  const isStopped = (thread: string) => {
    const stat = readFileSync(join(threads, thread, 'stat'), 'utf8')
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T')
  }
  return eventually('every thread is stopped', stopWait, () =>
    Promise.resolve(readdirSync(threads).every(isStopped) || undefined),
  )
}
