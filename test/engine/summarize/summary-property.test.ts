import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { RunDetails } from 'fast-check'
import { textsOf } from '../../../src/row-texts.js'
import { writeParquet } from '../../support/world.js'
import type { Form } from '../fixtures/forms.js'
import { openFolder } from '../fixtures/open-engine.js'
import { summariesOf, summaryOf } from '../fixtures/summaries.js'
import type { SummaryWorld } from '../fixtures/summaries.js'
import type { ServedRow } from '../fixtures/summary-model.js'
import {
  askedSummary,
  checkSummary,
  summaryFilters,
  summaryQuestion,
  summaryRows,
} from '../fixtures/summary-questions.js'
import { runs } from '../../support/runs.js'

// Guarantee: an aggregate equals the same computed from the exported rows, whatever the order of
// the rows, the form of the version, its files and the number of threads.
// `npm run check:night -- --only summaries` asks 5,000 questions.

async function exported(world: SummaryWorld, filter: (typeof summaryFilters)[number] | null) {
  const rows = await world.walk(filter ? world.filter(...filter) : [], 1000)
  return rows.map(({ json }): ServedRow => {
    const { names, cells } = textsOf(json)
    return new Map(names.map((name, index) => [String(JSON.parse(name)), cells[index] ?? '']))
  })
}

/** The failure itself, with the question. */
function briefly<T>({ failed, seed, counterexample, errorInstance }: RunDetails<T>): void {
  if (!failed) return
  const asked = JSON.stringify(counterexample)
  throw new Error(`seed ${seed}: ${asked}: ${String(errorInstance)}`, { cause: errorInstance })
}

await t.test('an aggregate equals the same computed from the exported rows', async (t) => {
  const folder = t.testdir({})
  const narrow = summaryRows(400, 500, true)
  await writeParquet(join(folder, 'parts/data'), {
    '1.parquet': summaryRows(0, 400),
    '2.parquet': narrow,
    '3.parquet': summaryRows(500, 900),
  })
  const whole = `${summaryRows(0, 400)} UNION ALL BY NAME ${narrow}
    UNION ALL BY NAME ${summaryRows(500, 900)}`
  await writeParquet(
    join(folder, 'whole/data'),
    { '1.parquet': `SELECT * FROM (${whole}) ORDER BY hash(id)` },
    ', ROW_GROUP_SIZE 2048',
  )
  const open = async (name: string, form: Form, threads: number, entry = '    history: year\n') =>
    summariesOf(await openFolder(t, join(folder, name), { entry, form, engine: { threads } }))
  const world = await open('parts', 'files', 2)
  const others = [
    await open('whole', 'forms', 8),
    await open('parts', 'forms', 4, '    key: id\n    history: year\n'),
  ]
  const exports = new Map<unknown, readonly ServedRow[]>()
  for (const filter of [null, ...summaryFilters]) exports.set(filter, await exported(world, filter))
  await fc.assert(
    fc.asyncProperty(summaryQuestion, async (question) => {
      const { filter } = question
      const asked = askedSummary(question)
      const predicates = filter ? world.filter(...filter) : []
      const answer = await world.ask({ ...asked, predicates })
      for (const other of others) {
        const predicates = filter ? other.filter(...filter) : []
        const same = await other.ask({ ...asked, predicates })
        if (JSON.stringify(answer) !== JSON.stringify(same)) {
          throw new Error(`${answer.rows.join()} but ${same.rows.join()} in another form`)
        }
      }
      checkSummary(asked, summaryOf(world, asked), exports.get(filter) ?? [], answer)
    }),
    { numRuns: runs(30), endOnFailure: true, reporter: briefly },
  )
})
