import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { life } from './fixtures/subscription-commands.js'
import { Life } from './fixtures/subscription-life.js'
import { openGround } from './fixtures/subscription-product.js'

// Guarantee: whatever is sold, changed, ended, asked and lost, in whatever order and by whatever
// clock, the product does what a model in plain JavaScript says: who is let in, which rows they
// get, what is left to them.

const everydayRuns = 150
const everydaySeed = 20261115
const runs = process.env['DAS_MODEL_RUNS']
const seed = Number(process.env['DAS_MODEL_SEED'] ?? (runs ? Date.now() % 2 ** 31 : everydaySeed))

/** What must really have happened, or the runs have proved nothing of it. */
const events = ['live one extended']

await t.test('a subscription lives as the contract says, command by command', async (t) => {
  const ground = await openGround(t)
  const seen = new Map<string, number>()
  const note = (event: string) => seen.set(event, (seen.get(event) ?? 0) + 1)
  let run = 0
  await fc.assert(
    fc.asyncProperty(life, async ({ start, commands }) => {
      const path = join(ground.folder, 'runs', String(run++))
      const one = new Life(ground, path, Date.parse(start), note)
      try {
        for (const command of commands) await one.live(command)
      } finally {
        one.end()
      }
    }),
    { numRuns: Number(runs ?? everydayRuns), seed },
  )
  t.comment(`seed ${seed}`, Object.fromEntries([...seen].sort()))
  t.same(
    events.filter((event) => !seen.has(event)),
    [],
    'each of these happened',
  )
})
