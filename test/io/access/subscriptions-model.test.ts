import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { life } from '../../access/fixtures/subscription-commands.js'
import { Life } from '../../access/fixtures/subscription-life.js'
import { openGround } from '../../access/fixtures/subscription-product.js'

// Guarantee: whatever is sold, changed, ended, asked and lost, in whatever order and by whatever
// clock, the product does what a model in plain JavaScript says: who is let in, which rows they
// get, what is left to them.

const everydayRuns = 150
const everydaySeed = 20261115
const { DAS_MODEL_RUNS, DAS_MODEL_SEED } = process.env
const runs = Number(DAS_MODEL_RUNS ?? everydayRuns)
const seed = Number(DAS_MODEL_SEED ?? (DAS_MODEL_RUNS ? Date.now() % 2 ** 31 : everydaySeed))

/** What must really have happened, or the runs have proved nothing of it. */
const events = [
  'page',
  'page cut',
  'empty page',
  'walk went on',
  'row_quota_exceeded',
  'unchanged',
  'checked',
  'bad_request',
  'not_found',
  'unauthorized',
  'queries at once',
  'cut at once',
  'several subscriptions at once',
  'live one extended',
  'expired one revived',
  'extension of a cancelled one refused',
  'extension too far ahead refused',
  'plan changed within a used month',
  'dataset added',
  'dataset withdrawn',
  'cap set below what was used',
  'change refused',
  'live one cancelled',
  'live token revoked',
  'reissue without grace',
  'reissue with grace',
  'reissue with a grace beyond an earlier end',
  'month turned',
  'step back across a month end',
  'query under a newer month',
  'clock exactly at an end',
  'clock exactly at a month end',
  'crash at rest',
  'crash with a query in flight: asked',
  'crash with a query in flight: read',
  'crash with a query in flight: paid',
  'rows charged and not delivered',
]

await t.test('a subscription lives as the contract says, command by command', async (t) => {
  const ground = await openGround(t)
  const seen = new Map<string, number>()
  const note = (event: string) => seen.set(event, (seen.get(event) ?? 0) + 1)
  let run = 0
  const result = await fc.check(
    fc.asyncProperty(life, async ({ start, commands }) => {
      const path = join(ground.folder, 'runs', String(run++))
      const one = new Life(ground, path, Date.parse(start), note)
      try {
        for (const command of commands) await one.live(command)
      } finally {
        await one.end()
      }
    }),
    { numRuns: runs, seed },
  )
  if (result.failed) {
    const report = await fc.asyncDefaultReportMessage(result)
    // Line by line: in one text a reporter would hide where a command ends.
    t.fail('a life was other than the model says', { report: report?.split('\n') })
    throw result.errorInstance
  }
  t.comment(`${runs} runs, seed ${seed}`, Object.fromEntries([...seen].sort()))
  t.same(
    events.filter((event) => runs >= everydayRuns && !seen.has(event)),
    [],
    'each of these happened',
  )
})
