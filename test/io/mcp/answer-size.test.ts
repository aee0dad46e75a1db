import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { openControl, usageOf } from '../../support/control.js'
import { query, restRows, rowsOf, sameCell } from '../../support/query-results.js'
import { startShipped } from '../../support/shipped.js'
import { startWorld } from '../../support/world.js'
import type { World } from '../../support/world.js'
import { runs } from '../../support/runs.js'

/**
 * An agent's answer is never longer than 30,000 characters. What does not fit is held back, not
 * lost: the cursor goes on exactly there, and only rows that were sent are charged. 500 random
 * questions in all.
 */

const lettersMax = 30_000
const pagesMax = 4

interface Asked {
  readonly filters: readonly object[]
  readonly select: string[]
  readonly limit: number
}

async function ask(
  t: Test,
  world: World,
  dataset: string,
  questions: fc.Arbitrary<Asked>,
  numRuns: number,
): Promise<void> {
  const plan = dataset === 'financials' ? 'business' : 'all'
  const { token, subscriptionId } = await world.subscribe([`${dataset}:${plan}`])
  const control = openControl(t, world)
  const used = async () => (await usageOf(control, world, subscriptionId)).total
  const seen = { pages: 0, cut: 0, longest: 0 }
  const property = fc.asyncProperty(questions, async (question) => {
    const before = await used()
    const rest = await world.post(`/v1/${dataset}/query`, token, question)
    const expected = restRows(rest.text, question.select)
    const charged = await used()
    let received = 0
    let cursor: string | null = null
    for (let page = 0; page < pagesMax; page++) {
      const limit = question.limit - received
      const args = { resource: dataset, ...question, limit, ...(cursor && { cursor }) }
      const answer = await query(world, token, args)
      const letters = JSON.stringify(answer).length
      seen.pages += 1
      seen.longest = Math.max(seen.longest, letters)
      if (letters > lettersMax) throw new Error(`${letters} characters`)
      for (const row of rowsOf(answer)) {
        const want = expected[received] ?? []
        if (!row.every((cell, place) => sameCell(cell, want[place]))) {
          throw new Error(`row ${received} is another: ${JSON.stringify(row).slice(0, 200)}`)
        }
        received += 1
      }
      cursor = answer.next_cursor
      if (!answer.truncated) break
      seen.cut += 1
      if (cursor === null || answer.row_count === 0) throw new Error('cut without a way on')
    }
    if (cursor === null && received !== expected.length) throw new Error('rows are missing')
    if (charged - before !== expected.length || (await used()) - charged !== received) {
      throw new Error('charged for other rows than were sent')
    }
  })
  await fc.assert(property, { numRuns })
  t.ok(seen.cut > numRuns / 10 && seen.longest > 25_000, JSON.stringify(seen))
}

const limit = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 300 }))

await t.test('random questions to 131 columns of accounts', async (t) => {
  const columns = readFileSync('data/financials.columns.csv', 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.slice(0, line.indexOf(',')))
  const year = fc.integer({ min: 2019, max: 2025 })
  const filters = fc.oneof(
    fc
      .tuple(fc.constantFrom('eq', 'gte', 'ne'), year)
      .map(([op, value]) => [{ column: 'year', op, value }]),
    fc
      .constantFrom('62.*', '64.*', '4*', '9*')
      .map((value) => [{ column: 'okved', op: 'like', value }]),
    fc.constant([{ column: '2110', op: 'not_null' }]),
  )
  const select = fc.oneof(
    fc.constant(columns),
    fc.shuffledSubarray(columns, { minLength: 1, maxLength: 8 }),
    fc.shuffledSubarray(columns, { minLength: 1 }),
  )
  const questions = fc.record({ filters, select, limit })
  await ask(t, await startShipped(t), 'financials', questions, runs(35))
})

await t.test('random questions to long texts, long numbers and nested values', async (t) => {
  const world = await startWorld(t, {
    files: {
      'data/a.parquet': `SELECT i AS id, repeat('Жы"\\', (hash(i) % 200)::INT) AS text,
          9007199254740993 + i AS "2110", (i / 7)::DOUBLE AS share, [i, i + 1, NULL] AS list,
          CASE WHEN i % 3 = 0 THEN 'k' || i % 5 END AS kind FROM range(700) t(i)`,
      'data/b.parquet': `SELECT i AS id, 'short' AS text, -i AS "2110", 0.5::DOUBLE AS share,
          [] :: BIGINT[] AS list, NULL :: VARCHAR AS kind FROM range(700, 1400) t(i)`,
    },
    registry: `
datasets:
  texts:
    title: Texts
    files: data/*.parquet
    plans: {all: {rows_per_month: 100000000, history: all, price_rub: 0, rate_per_minute: 100000}}
`,
  })
  const id = fc.integer({ min: 0, max: 1400 })
  const filters = fc.oneof(
    fc.constant([]),
    fc.tuple(fc.constantFrom('gte', 'lt'), id).map(([op, value]) => [{ column: 'id', op, value }]),
    fc.constant([{ column: 'kind', op: 'in', value: ['k1', 'k3'] }]),
    fc.constant([{ column: 'kind', op: 'is_null' }]),
  )
  const columns = ['id', 'text', '2110', 'share', 'list', 'kind']
  const select = fc.shuffledSubarray(columns, { minLength: 1 })
  await ask(t, world, 'texts', fc.record({ filters, select, limit }), runs(130))
})
