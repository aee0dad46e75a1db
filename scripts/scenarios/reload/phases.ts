import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { Fault } from '../../harness/fault.js'
import { das, serve } from '../../harness/fixture.js'
import type { Bucket } from '../../harness/object-gateway.js'
import { randomOf } from '../../harness/random.js'
import { beginWalk, nextPage } from '../parts/walks.js'
import type { Walk } from '../parts/walks.js'
import type { Serving } from '../parts/serving.js'
import { dropBad, edit, refresh, refreshAtOnce, reloadByHand } from './changes.js'
import { questionOf, saysReload, servedMsMax, until, untilReload, untilServed } from './client.js'
import type { Client, Tolerance } from './client.js'
import { makeReloadFixture } from './reload-fixture.js'
import type { ReloadFixture } from './reload-fixture.js'
import { PauseWatch, overwrite, overwrites, pauseMsMax } from './overwrite.js'
import { leftOut, runPhase } from './run-phase.js'
import type { Outcome, PhaseContext } from './run-phase.js'

/** How the server is started. Request lines of its log are not kept. */
export const serverStart = {
  argv: ['--log-level', 'info', '--object-poll-seconds', '1'],
  dropped: /^.*"msg":"request"\}\n/gm,
}

const strict = (): Tolerance => ({ mayRefuse: false, mayBeAway: false })

/** The user `nobody`, who owns no file. */
const otherUid = 65_534
const copiedRefreshes = 10
const handEvery = 10
const milestoneEvery = 10
const overwrittenMsMax = 120_000
/** A packer gives way to the clients of the check. */
const packedMsMax = 600_000
/** A listing of 200 objects takes about 60,000. */
const cutBytesMax = 90_000
const heldWalks = 24

const Listed = Type.Array(
  Type.Object({ name: Type.String(), stored: Type.Union([Type.String(), Type.Null()]) }),
)

/** Phase 1: while changes are made by rename, no request fails and no row is wrong. */
export function changesByRename(
  context: PhaseContext,
  serving: Serving,
  isPacked: boolean,
): Promise<Outcome> {
  const name = isPacked ? '1 (pack: auto)' : '1 (as dropped)'
  return runPhase(context, name, serving.base, strict(), async (client) => {
    const { seed } = context.options
    const { years } = context.fixture.table
    const random = randomOf(seed, isPacked ? 2 : 1)
    await follow(context, client, isPacked)
    const done = { refreshes: 0, edits: 0, bad: 0 }
    const servedMs: number[] = []
    for (const kind of shuffled(halfOf(context, isPacked), random.whole)) {
      if (!context.hasTime()) break
      if (kind === 'refreshes') {
        const how = random.oneOf(['in turn', 'at once', 'one', 'one'] as const)
        const only = how === 'one' ? random.oneOf(years) : null
        const number = context.nextNumber()
        if (how === 'at once') servedMs.push(await refreshAtOnce(client, number))
        else servedMs.push(await refresh(client, number, only))
      } else if (kind === 'edits') await edit(client, isPacked, context.nextNumber(), random)
      else await dropBad(client, done.bad + (isPacked ? 4 : 0), context.nextNumber())
      done[kind]++
      const all = done.refreshes + done.edits + done.bad
      if (all % handEvery === 0) await reloadByHand(client)
      context.run.update(`phase ${name}: ${all} changes`, all % milestoneEvery === 0)
    }
    return { ...done, servedMs }
  })
}

type Kind = 'refreshes' | 'edits' | 'bad'

function halfOf({ options }: PhaseContext, isSecond: boolean): readonly Kind[] {
  const kinds = ['refreshes', 'edits', 'bad'] as const
  return kinds.flatMap((kind) => {
    const count = isSecond ? Math.floor(options[kind] / 2) : Math.ceil(options[kind] / 2)
    return Array.from({ length: count }, () => kind)
  })
}

function shuffled(kinds: readonly Kind[], whole: (min: number, max: number) => number) {
  const left = [...kinds]
  return kinds.flatMap(() => left.splice(whole(0, left.length - 1), 1))
}

/** Edits the registry, which turns packing on or off, and waits until the server follows it. */
async function follow({ options, nextNumber }: PhaseContext, client: Client, isPacked: boolean) {
  const number = nextNumber()
  await edit(client, isPacked, number, randomOf(options.seed, number))
}

/** Phase 2: a file that is overwritten in place is served right, or not at all. */
export async function changesInPlace(context: PhaseContext, serving: Serving): Promise<Outcome> {
  const phase = '2 (in place)'
  const tolerance = { mayRefuse: true, mayBeAway: false }
  const pauses = new PauseWatch()
  const paused = () => `the writer paused at most ${Math.round(pauses.longestMs)} ms`
  let served = () => Promise.resolve(0)
  try {
    return await runPhase(context, phase, serving.base, tolerance, async (client) => {
      const random = randomOf(context.options.seed, 3)
      const servedMs: number[] = []
      await follow(context, client, false)
      for (const how of overwrites) {
        if (!context.hasTime()) break
        context.run.update(`phase 2: ${how.name}`)
        // Walks on earlier versions read the same file.
        const [first = NaN, ...others] = context.fixture.table.years
        await refresh(client, context.nextNumber(), first)
        const year = random.oneOf(others)
        const written = overwrite(client.fixture, year, context.nextNumber(), how, pauses)
        served = () => written.then(() => untilServed(client, overwrittenMsMax))
        servedMs.push(await served())
      }
      return { servedMs, note: paused() }
    })
  } catch (cause) {
    if (!(cause instanceof Fault) || pauses.longestMs < pauseMsMax) throw cause
    const note = `not decided: ${paused()}, then ${cause.message}`
    await served()
    return leftOut(phase, note)
  }
}

/** Phase 3: where links are refused, copies are served, and no request fails. */
export async function withoutLinks(context: PhaseContext): Promise<Outcome> {
  const reason = reasonToLeaveOut()
  const phase = '3 (copies)'
  if (reason !== null) return leftOut(phase, `left out: ${reason}`)
  const fixture = await makeReloadFixture(context.run, {
    writer: context.fixture.writer,
    uid: otherUid,
    bucket: null,
  })
  context.run.update(`phase 3: as user ${otherUid} in ${fixture.folder}`)
  const server = await serve(fixture, context.run.cleanup, serverStart)
  try {
    return await runPhase({ ...context, fixture }, phase, server.base, strict(), async (client) => {
      const servedMs: number[] = []
      for (let done = 0; done < copiedRefreshes && context.hasTime(); done++) {
        const only = done % 2 === 0 ? null : (fixture.table.years[0] ?? null)
        servedMs.push(await refresh(client, context.nextNumber(), only))
      }
      const stored = await storedOf(fixture)
      if (stored !== 'copied') throw new Fault(`das dataset list says ${stored}, not copied`)
      return { servedMs, note: 'das dataset list says copied' }
    })
  } finally {
    await server.end('SIGTERM')
  }
}

function reasonToLeaveOut(): string | null {
  if (process.platform !== 'linux') return 'it needs Linux'
  if (process.getuid?.() !== 0) return 'it needs root, to start a server as another user'
  const isProtected = readFileSync('/proc/sys/fs/protected_hardlinks', 'utf8').trim() === '1'
  return isProtected ? null : 'fs.protected_hardlinks is off: links are not refused'
}

/** Phase 5: a line to the store that breaks in the middle of a fetch changes nothing. */
export function brokenLine(
  context: PhaseContext,
  serving: Serving,
  { cutAfter }: Pick<Bucket, 'cutAfter'>,
): Promise<Outcome> {
  return runPhase(context, '5 (broken line)', serving.base, strict(), async (client) => {
    const random = randomOf(context.options.seed, 5)
    const servedMs: number[] = []
    let refused = 0
    await follow(context, client, false)
    while (servedMs.length < context.options.breaks && context.hasTime()) {
      cutAfter(random.whole(0, cutBytesMax))
      const served = refreshAtOnce(client, context.nextNumber())
      let isServed = false
      const noted = served.finally(() => {
        isServed = true
      })
      // Awaited below; it may fail while the line is cut.
      noted.catch(() => undefined)
      await until('the broken fetch is refused, or ends', servedMsMax, async () => {
        const isRefused = await saysReload(client, 'refused')
        if (isRefused) refused++
        return isRefused || isServed
      })
      cutAfter(null)
      servedMs.push(await noted)
      await untilReload(client, 'ok', servedMsMax)
      context.run.update(`phase 5: ${servedMs.length} broken fetches`)
    }
    return {
      refreshes: servedMs.length,
      servedMs,
      note: `${refused} were refused while the line broke`,
    }
  })
}

/** Phase 4: walks continue through packing, SIGHUP and kill -9. */
export function packedAndKilled(context: PhaseContext, serving: Serving): Promise<Outcome> {
  const tolerance = strict()
  const phase = '4 (packed, killed)'
  return runPhase(context, phase, serving.base, tolerance, async (client) => {
    const held: Walk[] = []
    const servedMs: number[] = []
    const renew = async () => {
      servedMs.push(await refresh(client, context.nextNumber(), null))
      await hold(client, held)
    }
    await follow(context, client, false)
    await renew()
    await follow(context, client, true)
    await untilPacked(context.fixture)
    await hold(client, held)
    await renew()
    await untilPacked(context.fixture)
    await hold(client, held)
    serving.server().child.kill('SIGHUP')
    await follow(context, client, true)
    context.run.update('phase 4: kill -9')
    tolerance.mayBeAway = true
    await serving.restart('SIGKILL')
    await untilServed(client, packedMsMax)
    tolerance.mayBeAway = false
    await untilReload(client, 'ok', packedMsMax)
    for (const walk of held) await finish(client, walk)
    const [first = null] = context.fixture.table.years
    servedMs.push(await refresh(client, context.nextNumber(), first))
    await untilPacked(context.fixture)
    const note = `${held.length} walks begun before kill -9 ended right after it`
    return { servedMs, note }
  })
}

/** Begins a few walks, of a page or two each, that continue later. */
async function hold(client: Client, held: Walk[]): Promise<void> {
  const { years, rows } = client.fixture.table
  for (let begun = 0; begun < heldWalks / 4; begun++) {
    const door = begun % 2 === 0 ? 'get' : 'post'
    const walk = beginWalk(client, questionOf(client, door, { years, from: 0, to: rows }, 700))
    const pages = begun % 3 === 0 ? 2 : 1
    for (let page = 0; page < pages; page++) await nextPage(client, walk)
    held.push(walk)
  }
}

async function finish(client: Client, walk: Walk): Promise<void> {
  while ((await nextPage(client, walk)) !== 'ended');
  client.counts.walks++
}

async function untilPacked(fixture: ReloadFixture): Promise<void> {
  await until('das dataset list says packed', packedMsMax, async () => {
    await sleep(200)
    return (await storedOf(fixture)) === 'packed'
  })
}

async function storedOf(fixture: ReloadFixture): Promise<string | null> {
  const { stdout } = await das(fixture, ['dataset', 'list', '--json'])
  const listed = Value.Parse(Listed, JSON.parse(stdout))
  return listed.find(({ name }) => name === 'things')?.stored ?? null
}
