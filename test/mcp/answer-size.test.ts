import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { openControl, usageOf } from '../support/control.js'
import { startShipped } from '../support/shipped.js'
import { query, restRows, rowsOf, sameCell } from '../support/query-results.js'

/**
 * An agent's answer is never longer than 30,000 characters. What does not fit is held back, not
 * lost: the cursor goes on exactly there, and only rows that were sent are charged.
 */

const lettersMax = 30_000
const pagesMax = 4

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
const limit = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 100 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 200 }) },
)

await t.test('500 random questions: short answers, no row lost, none charged twice', async (t) => {
  const world = await startShipped(t)
  const { token, subscriptionId } = world.subscribe(['financials:business'])
  const control = openControl(t, world)
  const used = () => usageOf(control, world, subscriptionId).total
  const seen = { pages: 0, cut: 0, longest: 0 }
  const property = fc.asyncProperty(filters, select, limit, async (filters, select, limit) => {
    const question = { filters, select, limit }
    const before = used()
    const rest = await world.post('/v1/financials/query', token, question)
    const expected = restRows(rest.text, select)
    const restCharged = used() - before
    let received = 0
    let cursor: string | null = null
    for (let page = 0; page < pagesMax; page++) {
      const left = limit - received
      const args = { resource: 'financials', ...question, limit: left, ...(cursor && { cursor }) }
      const answer = await query(world, token, args)
      seen.pages += 1
      seen.longest = Math.max(seen.longest, JSON.stringify(answer).length)
      if (JSON.stringify(answer).length > lettersMax) throw new Error('too long')
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
    if (used() - before !== restCharged + received) throw new Error('charged for other rows')
  })
  await fc.assert(property, { numRuns: 500 })
  t.ok(seen.cut > 100 && seen.longest > 25_000, JSON.stringify(seen))
})
