import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'
import { deliverBad, refresh } from './events/delivering.js'
import { click, decide, pressOnPage } from './events/deciding.js'
import { order, orderOnAccount, pay } from './events/ordering.js'
import { changeOwners } from './events/owning.js'
import { readAtOnce, readPage, summarize, walkOn } from './events/reading.js'
import { changeByCommand, sell } from './events/selling.js'
import { askAsAgent, askByMcp, connect, loseToken, reissue, revoke } from './events/tokens.js'
import { fillDisk, holdLock, restart, setClock, switchPost } from './events/troubles.js'
import type { Kill, StepKind } from './machine/machine.js'
import type { World } from './world.js'

/** Does one event; returns what a person reads of it. */
type Act = (world: World) => Promise<string>

/** Every kind of event: how often it happens, and what does it. */
const kinds = {
  read: [24, readPage],
  'read at once': [6, readAtOnce],
  walk: [26, walkOn],
  summarize: [5, summarize],
  mcp: [5, askByMcp],
  agent: [6, askAsAgent],
  connect: [3, connect],
  sell: [4, sell],
  change: [4, changeByCommand],
  order: [6, order],
  'order on account': [5, orderOnAccount],
  pay: [8, pay],
  decide: [3, decide],
  click: [5, click],
  "owner's page": [6, pressOnPage],
  owners: [2, changeOwners],
  reissue: [3, reissue],
  revoke: [1, revoke],
  'lost token': [3, loseToken],
  refresh: [6, refresh],
  'bad files': [3, deliverBad],
  clock: [2, setClock],
  restart: [2, restart],
  'full disk': [1, fillDisk],
  lock: [1, holdLock],
  post: [1, switchPost],
} as const satisfies Readonly<Record<string, readonly [number, Act]>>

export type EventKind = keyof typeof kinds

/** One event of a plan. Its own seed makes it the same when others are left out. */
export interface PlannedEvent {
  /** Since the start. */
  readonly atMs: number
  readonly kind: EventKind
  readonly seed: number
  /** The process is killed while the event, or what is due before it, happens; null = it lives. */
  readonly kill: Kill | null
  /** The next process is killed too, soon after its start. */
  readonly killNext: Kill | null
}

const dayMs = 86_400_000
const eventsADayMax = 6
/** One of so many events has a kill. */
const killEvery = 7
/** About as many steps of each kind as an event has; most of a start. */
const stepsMax: Readonly<Record<StepKind, number>> = {
  statement: 20,
  file: 6,
  engine: 12,
  letter: 2,
}
const killsBefore: readonly StepKind[] = ['statement', 'statement', 'file', 'engine', 'letter']

/** The plan of a seed: it depends on no outcome. */
export function planOf(seed: number, days: number): readonly PlannedEvent[] {
  const random = randomOf(seed, 1)
  const weighted = Object.entries(kinds).flatMap(([kind, [weight]]) =>
    Array.from({ length: weight }, () => kind as EventKind),
  )
  const events: PlannedEvent[] = [
    { atMs: 0, kind: 'sell', seed: random.whole(0, 2 ** 31), kill: null, killNext: null },
  ]
  for (let day = 0; day < days; day++) {
    const times = Array.from({ length: random.whole(1, eventsADayMax) }, () =>
      random.whole(0, dayMs - 1),
    ).sort((one, other) => one - other)
    for (const time of times) {
      const isKilled = random.whole(1, killEvery) === 1
      const [kill, killNext] = [killOf(random), killOf(random)]
      const isKilledAgain = random.whole(1, 3) === 1
      events.push({
        atMs: day * dayMs + time,
        kind: random.oneOf(weighted),
        seed: random.whole(0, 2 ** 31),
        kill: isKilled ? kill : null,
        killNext: isKilled && isKilledAgain ? killNext : null,
      })
    }
  }
  return events
}

function killOf(random: Random): Kill {
  const kind = random.oneOf(killsBefore)
  return { kind, step: random.whole(1, stepsMax[kind]) }
}

/** Does what is planned. @throws BrokenPromise, and Killed */
export function act(world: World, { kind }: PlannedEvent): Promise<string> {
  return kinds[kind][1](world)
}
