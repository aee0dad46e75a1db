import { readFileSync } from 'node:fs'
import t from 'tap'
import { globSync } from 'tinyglobby'
import { mutations } from '../../scripts/simulate/mutations.js'
import type { Mutation } from '../../scripts/simulate/mutations.js'
import { planOf } from '../../scripts/simulate/plan.js'
import type { PlannedEvent } from '../../scripts/simulate/plan.js'
import { shrink } from '../../scripts/simulate/shrink.js'
import { runJob } from '../../scripts/simulate/start-child.js'

/** What the simulation says of each planted fault. */
const found: Readonly<Record<Mutation, RegExp>> = {
  'one row of each page is not charged': /rows delivered/,
  'a revoked token works': /^a token of sub\d+: 200 and not 401$/,
  'a confirmed order waits on': /^ord\d+: confirmed with 2 letters, 2 entries$/,
  'readyz is always ready': /^readyz says 200 while the disk is full$/,
}

/** Sold, revoked, read and full, ordered and decided, an hour after each other. */
const provoking: readonly PlannedEvent[] = (
  [
    ...['sell', 'sell', 'read', 'revoke', 'read', 'full disk', 'revoke', 'read'],
    ...['order', 'order', 'order', "owner's page", "owner's page", "owner's page", "owner's page"],
  ] as const
).map((kind, at) => ({ atMs: at * 3_600_000, kind, seed: at, kill: null, killNext: null }))

const faults = Object.keys(mutations) as Mutation[]
const kept = globSync(['scripts/simulate/kept/*.json'])

// One process does all of them: it takes longer to start than to run.
const reports = await runJob(
  {
    runs: [
      { seed: 7, plan: null, mutation: null },
      ...kept.map((path, seed) => ({ seed, plan: readPlan(path), mutation: null })),
      ...faults.map((mutation, seed) => ({ seed, plan: provoking, mutation })),
    ],
    days: 6,
    isTwice: true,
    shrinks: false,
    isShown: false,
  },
  {},
)
const [usual, ...others] = reports

function readPlan(path: string): readonly PlannedEvent[] {
  return JSON.parse(readFileSync(path, 'utf8')) as readonly PlannedEvent[]
}

await t.test('a seed keeps every promise, and prints the same lines twice', (t) => {
  t.match(usual, { broken: null, lines: [] })
  t.ok((usual?.checks ?? 0) > 100)
  t.end()
})

await t.test('plans that broke a promise once are kept, and keep it now', (t) => {
  for (const [at, path] of kept.entries()) t.equal(others[at]?.broken, null, path)
  t.end()
})

await t.test('the simulation finds each planted fault', (t) => {
  for (const [at, fault] of faults.entries()) {
    t.match(others[kept.length + at]?.broken, found[fault], fault)
  }
  t.end()
})

await t.test('a failing plan is shrunk to the events that it needs', async (t) => {
  const plan = planOf(1, 10)
  const needed = [plan[3], plan[17]]
  const attempt = (smaller: readonly PlannedEvent[]) =>
    Promise.resolve(
      needed.every((each) => smaller.some(({ seed }) => seed === each?.seed)) ? 'sub1' : null,
    )
  const shrunk = await shrink(plan, 'sub2', attempt)
  t.same(
    shrunk.map(({ seed }) => seed),
    needed.map((each) => each?.seed),
  )
})
