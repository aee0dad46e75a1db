import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { demand } from '../../harness/fault.js'
import { das } from '../../harness/fixture.js'
import type { Bucket } from '../../harness/object-gateway.js'
import { randomOf } from '../../harness/random.js'
import type { Run } from '../../harness/script.js'
import type { Serving } from '../parts/serving.js'
import { beginWalk, nextPage } from '../parts/walks.js'
import type { Walk } from '../parts/walks.js'
import { dropBad, edit, overwrite, overwrites, refresh, refreshAtOnce } from './changes.js'
import { servedMsMax, until } from './client.js'
import type { Client, Tolerance } from './client.js'
import type { ReloadFixture } from './fixture.js'

/** The user `nobody`, who owns no file. */
const otherUid = 65_534
const copiedRefreshes = 10
const handEvery = 10
const overwrittenMsMax = 120_000
/** The server takes a writer that pauses longer for finished and serves what is written so far. */
const pauseMsMax = 250
/** A packer gives way to the clients of the check. */
const packedMsMax = 600_000
/** A listing of 200 objects takes about 60,000. */
const cutBytesMax = 90_000
const heldWalks = 24

const Listed = Type.Array(
  Type.Object({
    name: Type.String(),
    stored: Type.Union([Type.String(), Type.Null()]),
    forms: Type.Array(Type.Object({ state: Type.String() })),
  }),
)

/** What phases have in common. */
export interface Context {
  readonly given: {
    readonly refreshes: number
    readonly edits: number
    readonly bad: number
    readonly breaks: number
    readonly clients: number
    readonly seed: number
  }
  readonly run: Run
  readonly fixture: ReloadFixture
  readonly serving: Serving
  /** Counts changes: each gets a number of its own. */
  readonly nextNumber: () => number
}

/** What a phase came to. */
interface Changes {
  /** Of each refresh, from its rename to the first answer from the new file. */
  readonly servedMs: readonly number[]
  /** A finding that no number shows. */
  readonly note: string
}

/** One phase: its name, what it allows, what changes meanwhile. */
export interface Phase {
  readonly name: string
  readonly tolerance?: Partial<Tolerance>
  readonly change: (client: Client, context: Context, tolerance: Tolerance) => Promise<Changes>
  /** The user that runs its server, over a folder of its own; else the server of all phases. */
  readonly uid?: number
  /** Why it can't run here. */
  readonly leftOut?: () => string | null
  /** Why its fault says nothing; resolves when the server is well again. */
  readonly excuse?: (client: Client) => Promise<string | null>
}

/** Phase 1: while changes are made by rename, no request fails and no row is wrong. */
export const renamed = (isPacked: boolean): Phase => ({
  name: isPacked ? '1 (pack: auto)' : '1 (as dropped)',
  change: async (client, { given, run, fixture, nextNumber }) => {
    const { years } = client.fixture.table
    const random = randomOf(given.seed, isPacked ? 2 : 1)
    await edit(client, isPacked, nextNumber(), random)
    const done = { refreshes: 0, edits: 0, bad: 0 }
    const half = isPacked ? Math.floor : Math.ceil
    const left = (['refreshes', 'edits', 'bad'] as const).flatMap((kind) =>
      Array.from({ length: half(given[kind] / 2) }, () => kind),
    )
    const servedMs: number[] = []
    while (left.length > 0) {
      const [kind = 'edits'] = left.splice(random.whole(0, left.length - 1), 1)
      if (kind === 'refreshes') {
        const how = random.oneOf(['in turn', 'at once', 'one', 'one'] as const)
        const only = how === 'one' ? random.oneOf(years) : null
        const number = nextNumber()
        if (how === 'at once') servedMs.push(await refreshAtOnce(client, number))
        else servedMs.push(await refresh(client, number, only))
      } else if (kind === 'edits') await edit(client, isPacked, nextNumber(), random)
      else await dropBad(client, done.bad + (isPacked ? 4 : 0), nextNumber())
      done[kind]++
      const all = done.refreshes + done.edits + done.bad
      if (all % handEvery === 0) await das(fixture, ['dataset', 'reload'])
      run.update(`phase 1: ${all} changes`, all % handEvery === 0)
    }
    return { servedMs, note: `${done.edits} edits, ${done.bad} bad files` }
  },
})

/** Phase 2: a file that is overwritten in place is served right, or not at all. */
export function inPlace(): Phase {
  let longestMs = 0
  let written = Promise.resolve()
  const paused = () => `the writer paused at most ${Math.round(longestMs)} ms`
  const onWrite = (ms: number) => {
    longestMs = Math.max(longestMs, ms)
  }
  return {
    name: '2 (in place)',
    tolerance: { mayRefuse: true },
    change: async (client, { given, run, nextNumber }) => {
      const random = randomOf(given.seed, 3)
      const servedMs: number[] = []
      await edit(client, false, nextNumber(), random)
      for (const how of overwrites) {
        run.update(`phase 2: ${how.name}`)
        // Walks on earlier versions read the same file.
        const [first = NaN, ...others] = client.fixture.table.years
        await refresh(client, nextNumber(), first)
        const year = random.oneOf(others)
        written = overwrite(client.fixture, year, nextNumber(), how, onWrite)
        await written
        servedMs.push(await client.untilServed(overwrittenMsMax))
      }
      return { servedMs, note: paused() }
    },
    excuse: async (client) => {
      await written
      if (longestMs < pauseMsMax) return null
      await client.untilServed(overwrittenMsMax)
      return `not decided: ${paused()}`
    },
  }
}

/** Phase 3: where links are refused, copies are served, and no request fails. */
export const withoutLinks: Phase = {
  name: '3 (copies)',
  uid: otherUid,
  leftOut: () => {
    if (process.getuid?.() !== 0) return 'it needs root, to start a server as another user'
    const isProtected = readFileSync('/proc/sys/fs/protected_hardlinks', 'utf8').trim() === '1'
    return isProtected ? null : 'fs.protected_hardlinks is off: links are not refused'
  },
  change: async (client, { nextNumber }) => {
    const servedMs: number[] = []
    while (servedMs.length < copiedRefreshes) {
      const only = servedMs.length % 2 === 0 ? null : (client.fixture.table.years[0] ?? null)
      servedMs.push(await refresh(client, nextNumber(), only))
    }
    const stored = (await listed(client.fixture))?.stored
    demand(stored === 'copied', `das dataset list says ${stored}, not copied`)
    return { servedMs, note: 'das dataset list says copied' }
  },
}

/** Phase 4: walks continue through packing, SIGHUP and kill -9. */
export const packedAndKilled: Phase = {
  name: '4 (packed, killed)',
  change: async (client, { given, run, serving, nextNumber }, tolerance) => {
    const held: Walk[] = []
    const servedMs: number[] = []
    const random = randomOf(given.seed, 4)
    const renew = async () => {
      servedMs.push(await refresh(client, nextNumber(), null))
      await hold(client, held)
    }
    await edit(client, false, nextNumber(), random)
    await renew()
    await edit(client, true, nextNumber(), random)
    await untilPacked(client.fixture)
    await hold(client, held)
    await renew()
    await untilPacked(client.fixture)
    await hold(client, held)
    serving.server().child.kill('SIGHUP')
    await edit(client, true, nextNumber(), random)
    run.update('phase 4: kill -9')
    tolerance.mayBeAway = true
    await serving.restart('SIGKILL')
    await client.untilServed(packedMsMax)
    tolerance.mayBeAway = false
    await client.untilReload('ok', packedMsMax)
    for (const walk of held) {
      while ((await nextPage(client, walk)) !== 'ended');
      client.counts.walks++
    }
    servedMs.push(await refresh(client, nextNumber(), client.fixture.table.years[0] ?? null))
    await untilPacked(client.fixture)
    return { servedMs, note: `${held.length} walks begun before kill -9 ended right after it` }
  },
}

/** Phase 5: a line to the store that breaks in the middle of a fetch changes nothing. */
export const brokenLine = ({ cutAfter }: Bucket): Phase => ({
  name: '5 (broken line)',
  change: async (client, { given, run, nextNumber }) => {
    const random = randomOf(given.seed, 5)
    const servedMs: number[] = []
    let refused = 0
    await edit(client, false, nextNumber(), random)
    while (servedMs.length < given.breaks) {
      cutAfter(random.whole(0, cutBytesMax))
      let isServed = false
      const served = refreshAtOnce(client, nextNumber()).finally(() => {
        isServed = true
      })
      // Awaited below; it may fail while the line is cut.
      served.catch(() => undefined)
      await until('the broken fetch is refused, or ends', servedMsMax, async () => {
        const isRefused = await client.saysReload('refused')
        if (isRefused) refused++
        return isRefused || isServed
      })
      cutAfter(null)
      servedMs.push(await served)
      await client.untilReload('ok')
      run.update(`phase 5: ${servedMs.length} broken fetches`, servedMs.length % handEvery === 0)
    }
    return { servedMs, note: `${refused} fetches were refused while the line broke` }
  },
})

/** Begins a few walks, of a page or two each, that continue later. */
async function hold(client: Client, held: Walk[]): Promise<void> {
  const { years, rows } = client.fixture.table
  for (let begun = 0; begun < heldWalks / 4; begun++) {
    const door = begun % 2 === 0 ? 'get' : 'post'
    const walk = beginWalk(client, client.question(door, { years, from: 0, to: rows }, 700))
    const pages = begun % 3 === 0 ? 2 : 1
    for (let page = 0; page < pages; page++) await nextPage(client, walk)
    held.push(walk)
  }
}

async function untilPacked(fixture: ReloadFixture): Promise<void> {
  await until('das dataset list says that all forms are made', packedMsMax, async () => {
    await sleep(200)
    const forms = (await listed(fixture))?.forms ?? []
    return forms.length > 0 && forms.every(({ state }) => state === 'made')
  })
}

async function listed(fixture: ReloadFixture) {
  const datasets = Value.Parse(
    Listed,
    JSON.parse(await das(fixture, ['dataset', 'list', '--json'])),
  )
  return datasets.find(({ name }) => name === 'things')
}
