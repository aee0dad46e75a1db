import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { randomOf } from '../harness/random.js'
import { dropBad, editedEntries, edit, refresh, reloadByHand, untilFollowed } from './changes.js'
import type { Numbers } from './changes.js'
import { beginWalk, endWalk, nextPage, questionOf } from './walks.js'
import type { Client, Leave, Walk } from './walks.js'
import { buildHouse, das, rowsOfYear, writeRegistry, years } from './reload-fixture.js'
import type { House } from './reload-fixture.js'
import { overwrite, overwrites } from './overwrite.js'
import { noCounts } from './phase-table.js'
import type { Outcome } from './phase-table.js'
import { Fault } from './rows.js'
import { startServer } from './server.js'
import type { Server } from './server.js'
import { stage } from './run-phase.js'
import type { Scene, Tally } from './run-phase.js'
import { until, untilReload, untilServed } from './wait-served.js'

const strict = (): Leave => ({ mayRefuse: false, mayBeAway: false })

/** Nobody, whom nothing belongs to. */
const nobodyUid = 65_534
const copiedRefreshes = 10
const handEvery = 10
const saidEvery = 10
const overwrittenMsMax = 20_000
const packedMsMax = 60_000
const heldWalks = 24

const Listed = Type.Array(
  Type.Object({ name: Type.String(), stored: Type.Union([Type.String(), Type.Null()]) }),
)

/** Phase 1: whatever is done by rename, no request fails, and no row is wrong. */
export function changesByRename(
  scene: Scene,
  server: Server,
  numbers: Numbers,
  isPacked: boolean,
): Promise<Outcome> {
  const name = isPacked ? '1 (pack: auto)' : '1 (as dropped)'
  return stage(scene, name, server, strict(), async (client) => {
    const { seed } = scene.options
    const random = randomOf(seed, isPacked ? 2 : 1)
    await follow(client, isPacked, numbers.next(), seed)
    const done = { refreshes: 0, edits: 0, bad: 0 }
    const servedMs: number[] = []
    for (const kind of shuffled(halfOf(scene, isPacked), random.whole)) {
      if (!scene.hasTime()) break
      if (kind === 'refreshes') {
        const only = random.oneOf([null, ...years])
        servedMs.push(await refresh(client, numbers.next(), only))
      } else if (kind === 'edits') await edit(client, isPacked, numbers.next(), random)
      else await dropBad(client, done.bad + (isPacked ? 4 : 0), numbers.next())
      done[kind]++
      const all = done.refreshes + done.edits + done.bad
      if (all % handEvery === 0) await reloadByHand(client)
      if (all % saidEvery === 0) scene.say(`phase ${name}: ${all} changes`)
    }
    return { ...done, servedMs }
  })
}

type Kind = 'refreshes' | 'edits' | 'bad'

function halfOf({ options }: Scene, isSecond: boolean): readonly Kind[] {
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

async function follow(client: Client, isPacked: boolean, number: number, seed: number) {
  await writeRegistry(client.house, editedEntries(isPacked, number, randomOf(seed, number)))
  await untilFollowed(client, number)
}

/** Phase 2: a file that is overwritten in place is right, or is not served. */
export function changesInPlace(scene: Scene, server: Server, numbers: Numbers): Promise<Outcome> {
  const leave = { mayRefuse: true, mayBeAway: false }
  return stage(scene, '2 (in place)', server, leave, async (client) => {
    const random = randomOf(scene.options.seed, 3)
    const servedMs: number[] = []
    await follow(client, false, numbers.next(), scene.options.seed)
    for (const how of overwrites) {
      if (!scene.hasTime()) break
      scene.say(`phase 2: ${how.name}`)
      // Walks that are on earlier versions hold the same file.
      await refresh(client, numbers.next(), years[0])
      const by = overwrite(client.house, random.oneOf(years.slice(1)), numbers.next(), how)
      await by
      servedMs.push(await untilServed(client, overwrittenMsMax))
    }
    return { refreshes: servedMs.length, servedMs }
  })
}

/** Phase 3: where links are refused, copies are served, and nothing fails. */
export async function withoutLinks(scene: Scene, numbers: Numbers): Promise<Outcome> {
  const reason = reasonToLeaveOut()
  const phase = '3 (copies)'
  if (reason !== null) {
    const nothing = { refreshes: 0, edits: 0, bad: 0, servedMs: [], versions: 0, seconds: 0 }
    return { ...nothing, phase, counts: noCounts(), note: `left out: ${reason}` }
  }
  const house = await buildHouse(scene.house.writer, nobodyUid)
  scene.say(`phase 3: as user ${nobodyUid} in ${house.folder}`)
  const server = await startServer(house, scene.signal)
  try {
    return await stage({ ...scene, house }, phase, server, strict(), async (client) => {
      const servedMs: number[] = []
      for (let done = 0; done < copiedRefreshes && scene.hasTime(); done++) {
        servedMs.push(await refresh(client, numbers.next(), done % 2 === 0 ? null : years[0]))
      }
      const stored = await storedOf(house)
      if (stored !== 'copied') throw new Fault(`das dataset list says ${stored}, not copied`)
      return { refreshes: servedMs.length, servedMs, note: 'das dataset list says copied' }
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

/** Phase 4: packing, SIGHUP and kill -9 change nothing for walks under way. */
export async function packedAndKilled(
  scene: Scene,
  server: Server,
  numbers: Numbers,
): Promise<{ readonly outcome: Outcome; readonly server: Server }> {
  const leave = strict()
  let next = server
  const outcome = await stage(scene, '4 (packed, killed)', server, leave, async (client) => {
    const { seed } = scene.options
    const held: Walk[] = []
    const servedMs: number[] = []
    const renew = async () => {
      servedMs.push(await refresh(client, numbers.next(), null))
      await hold(client, held)
    }
    await follow(client, false, numbers.next(), seed)
    await renew()
    await follow(client, true, numbers.next(), seed)
    await untilPacked(scene.house)
    await hold(client, held)
    await renew()
    await untilPacked(scene.house)
    await hold(client, held)
    server.send('SIGHUP')
    await follow(client, true, numbers.next(), seed)
    scene.say('phase 4: kill -9')
    leave.mayBeAway = true
    await server.end('SIGKILL')
    next = await startServer(scene.house, scene.signal, new URL(server.base).port)
    await untilServed(client, packedMsMax)
    leave.mayBeAway = false
    await untilReload(client, 'ok', packedMsMax)
    for (const walk of held) await goOn(client, walk)
    servedMs.push(await refresh(client, numbers.next(), years[0]))
    await untilPacked(scene.house)
    return tallyOf(servedMs, held.length)
  })
  return { outcome, server: next }
}

function tallyOf(servedMs: readonly number[], held: number): Tally {
  const note = `${held} walks begun before kill -9 went on after it, to the right end`
  return { refreshes: servedMs.length, servedMs, note }
}

/** Begins a few walks, of a page or two each, for later. */
async function hold(client: Client, held: Walk[]): Promise<void> {
  for (let begun = 0; begun < heldWalks / 4; begun++) {
    const door = begun % 2 === 0 ? 'get' : 'post'
    const question = questionOf(door, { years, from: 0, to: rowsOfYear }, 700)
    const first = await beginWalk(client, question)
    const second = first && begun % 3 === 0 ? await nextPage(client, first) : first
    if (second) held.push(second)
  }
}

async function goOn(client: Client, begun: Walk): Promise<void> {
  let walk: Walk | null = begun
  while (walk && walk.question.cursor !== null) walk = await nextPage(client, walk)
  if (walk) endWalk(client, walk)
}

async function untilPacked(house: House): Promise<void> {
  await until('das dataset list says packed', packedMsMax, async () => {
    await sleep(200)
    return (await storedOf(house)) === 'packed'
  })
}

async function storedOf(house: House): Promise<string | null> {
  const { stdout } = await das(house, ['dataset', 'list', '--json'])
  const listed = Value.Parse(Listed, JSON.parse(stdout))
  return listed.find(({ name }) => name === 'things')?.stored ?? null
}
