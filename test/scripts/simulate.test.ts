import { readFileSync } from 'node:fs'
import t from 'tap'
import { globSync } from 'tinyglobby'
import type { Job, SeedReport } from '../../scripts/simulate/job.js'
import { mutations } from '../../scripts/simulate/mutations.js'
import type { Mutation } from '../../scripts/simulate/mutations.js'
import { planOf } from '../../scripts/simulate/plan.js'
import type { PlannedEvent } from '../../scripts/simulate/plan.js'
import { shrink } from '../../scripts/simulate/shrink.js'
import { runJob } from '../../scripts/simulate/start-child.js'

async function run(change: Partial<Job>): Promise<SeedReport | undefined> {
  const usual = { plan: null, isTwice: false, shrinks: false, isShown: false, mutation: null }
  const [report] = await runJob({ seeds: [7], days: 6, ...usual, ...change }, {})
  return report
}

await t.test('a seed keeps every promise, and prints the same lines twice', async (t) => {
  const report = await run({ isTwice: true })
  t.match(report, { broken: null, lines: [] })
  t.ok((report?.checks ?? 0) > 100)
})

/** What the simulation says of each planted fault. */
const found: Readonly<Record<Mutation, RegExp>> = {
  'one row of each page is not charged': /rows delivered, \d+ charged/,
  'a revoked token works': /^a token of sub\d+: 200 and not 401$/,
  'readyz is always ready': /^readyz says 200 while the disk is full$/,
}

/** Sold, revoked, read and full, an hour after each other. */
const provoking: readonly PlannedEvent[] = (
  ['sell', 'sell', 'read', 'revoke', 'read', 'full disk', 'revoke', 'read'] as const
).map((kind, at) => ({ atMs: at * 3_600_000, kind, seed: at, kill: null, killNext: null }))

for (const mutation of Object.keys(mutations) as Mutation[]) {
  await t.test(`the simulation finds a planted fault: ${mutation}`, async (t) => {
    const report = await run({ plan: provoking, mutation })
    t.match(report?.broken, found[mutation])
  })
}

await t.test('plans that broke a promise once are kept, and keep it now', async (t) => {
  for (const path of globSync(['scripts/simulate/kept/*.json'])) {
    const plan = JSON.parse(readFileSync(path, 'utf8')) as readonly PlannedEvent[]
    t.equal((await run({ plan }))?.broken, null, path)
  }
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
