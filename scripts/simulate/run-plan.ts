import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomOf } from '../harness/random.js'
import type { Books } from './books.js'
import { checkBooks, checkReady, checkTokens } from './checks.js'
import { deliveredOf, learnServed } from './events/delivering.js'
import { House } from './house.js'
import { Killed } from './machine/machine.js'
import type { Machine, StepKind } from './machine/machine.js'
import { act } from './plan.js'
import type { PlannedEvent } from './plan.js'
import { Post } from './post.js'
import { World } from './world.js'
import { Files, datasetNames, ownerNames, registryText } from './world-files.js'

/** What a run did, and the promise that it broke, if any. */
export interface RunResult {
  /** One line an event. */
  readonly lines: readonly string[]
  readonly broken: string | null
  readonly events: number
  readonly kills: Readonly<Partial<Record<StepKind, number>>>
  readonly checks: number
  readonly rowsDelivered: number
  readonly rowsLost: number
}

export interface RunOptions {
  readonly machine: Machine
  readonly plan: readonly PlannedEvent[]
  readonly onLine?: (line: string) => void
}

/** In memory where the system has such a folder. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const startMs = Date.UTC(2026, 9, 28, 9)
const postClosedMsMax = 86_400_000
/** Long enough for every letter that waits. */
const lastHours = 12

/** Runs a plan in a new folder, up to its end or to the first promise that does not hold. */
export async function runPlan(options: RunOptions): Promise<RunResult> {
  const folder = mkdtempSync(join(parent, 'das-simulate-'))
  const { TMPDIR } = process.env
  process.env['TMPDIR'] = join(folder, 'temp')
  try {
    return await runIn(folder, options)
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runIn(folder: string, { machine, plan, onLine }: RunOptions): Promise<RunResult> {
  mkdirSync(join(folder, 'temp'))
  writeFileSync(join(folder, 'registry.yaml'), registryText(ownerNames))
  machine.reset(startMs)
  const post = new Post()
  const files = new Files(folder)
  const house = new House({ machine, post, folder })
  const world = new World({ machine, house, post, files, random: randomOf(0) })
  const lines: string[] = []
  const write = (words: string) => {
    const line = `${new Date(machine.clock.ms).toISOString().slice(0, 19)}  ${words}`
    lines.push(line)
    onLine?.(line)
  }
  let [events, broken] = [0, null as string | null]
  try {
    await begin(world)
    for (const event of plan) {
      events += 1
      await live(world, event, write)
    }
    await end(world)
    write('the end: all letters are sent')
  } catch (cause) {
    broken = cause instanceof Error ? cause.message : String(cause)
    const stack = cause instanceof Error && cause.name !== 'BrokenPromise' ? cause.stack : null
    write(`BROKEN  ${stack ?? broken}`)
    for (const error of house.errors.slice(-3)) write(`logged  ${error}`)
  }
  await house.abandon()
  files.close()
  const { rowsDelivered, rowsLost } = world.ledger
  const { checks } = world
  return { lines, broken, events, kills: machine.kills, checks, rowsDelivered, rowsLost }
}

/** The first files, and the first start. */
async function begin(world: World): Promise<void> {
  for (const dataset of datasetNames) {
    const edition = { number: 1, rows: dataset === 'companies' ? 250 : 90 }
    await world.files.deliver(dataset, edition, world.now)
    const delivered = deliveredOf(world, dataset)
    delivered.editions.set(1, edition)
    delivered.served = [1]
  }
  await world.house.open()
}

/** One event, and the checks after it. */
async function live(
  world: World,
  event: PlannedEvent,
  write: (words: string) => void,
): Promise<void> {
  const { machine, post } = world
  machine.random = randomOf(event.seed, 2)
  world.random = randomOf(event.seed, 3)
  const before = world.books()
  machine.killAt(event.kill)
  let words: string
  try {
    await machine.pass(Math.max(0, event.atMs - machine.clock.monotonicMs()))
    if (post.isClosed && world.now - post.closedAt > postClosedMsMax) post.isClosed = false
    words = await act(world, event)
    await machine.pass(0)
  } catch (cause) {
    if (!(cause instanceof Killed)) throw cause
    words = await recover(world, event)
  }
  machine.isDiskFull = false
  machine.killAt(null)
  write(`${event.kind.padEnd(16)} ${words}`)
  await check(world, before)
}

/** Starts again after a kill; the start may be killed too. */
async function recover({ machine, house, post }: World, event: PlannedEvent): Promise<string> {
  const steps: string[] = []
  for (let kill = event.killNext; ; kill = null) {
    steps.push(machine.killedAt)
    post.unsaved += 1
    machine.isDiskFull = false
    await house.bury()
    try {
      await house.open(kill)
      return `killed before ${steps.join(', then before ')}`
    } catch (cause) {
      if (!(cause instanceof Killed)) throw cause
    }
  }
}

async function check(world: World, before: Books): Promise<void> {
  await learnServed(world)
  checkBooks(world, before, world.books())
  world.openLetters()
  await checkTokens(world)
  await checkReady(world)
}

/** Lets the service do what waits, and stops it. */
async function end(world: World): Promise<void> {
  const { machine, post, house } = world
  post.isClosed = false
  const before = world.books()
  for (let hour = 0; hour < lastHours; hour++) await machine.pass(3_600_000)
  const after = world.books()
  checkBooks(world, before, after)
  const waiting = [...after.letters.values()].filter(({ state }) => state === 'waiting')
  world.require(waiting.length === 0, `${waiting.length} letters were never sent`)
  await house.close()
}
