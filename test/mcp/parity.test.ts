import fc from 'fast-check'
import t from 'tap'
import { inMcpWords } from '../../src/mcp/error-words.js'
import type { QueryAnswer } from '../../src/mcp/query-answer.js'
import type { TestFilter, TestQuestion } from '../support/carriers.js'
import { jsonBody } from '../support/carriers.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import { restRows, rowsOf, sameCell } from '../support/query-results.js'
import { startTyped } from '../support/typed.js'
import { runs } from '../support/runs.js'

/**
 * MCP and REST are two doors of one service: the same question has the same answer, to the type and
 * the digit, the same cursor, the same charge, and where it is wrong the same words. Only MCP
 * explains an empty answer, for one row.
 */

const values: Readonly<Record<string, readonly (string | number | boolean)[]>> = {
  id: [1, 2, 3, '4', 5, 1.5, -1],
  int: [-5, 0, 1, 2147483647, '99999999999999999999', 'x'],
  big: ['-9007199254740993', '9007199254740993', '9223372036854775807', 1000000, 1e15],
  dec: ['10.00', '10.005', -0.01, '9999999999999999.99'],
  dbl: [0.1, '-1e300', '1e-300', '5e-324', 0],
  flt: [0.1, 16777216, '3.4028235e38', -0.5],
  flag: [true, false, 'true', 'yes'],
  day: ['2024-01-31', '1969-12-31', '9999-12-31', '2024-02-30'],
  moment: ['2024-01-31T09:30:00.5', '1969-12-31T23:59:59.999999', '2024-03-01'],
  zoned: ['2024-01-31T06:30:00Z', '2024-01-31T09:30:00+03:00'],
  clock: ['09:30:00', '12:00:00.000001', '25:00:00'],
  text: ['plain', 'a,b', 'say "hi" \\', '', 'plai*', 'Ж'],
  '2110': ['A', '(x)', '100%', 'a_b', 'Ж*', 'a*b'],
  uuid: ['00000000-0000-0000-0000-00000000000a', '123e4567-e89b-12d3-a456-426614174000'],
  list: ['[1]'],
  bytes: ['YWI='],
  nosuch: ['x'],
}
const names = Object.keys(values)
const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'like', 'contains', 'isdistinct', 'near']

const filter: fc.Arbitrary<TestFilter> = fc
  .constantFrom(...names)
  .chain((name): fc.Arbitrary<TestFilter> => {
    const value = fc.constantFrom(...(values[name] ?? []))
    return fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.constant(name), fc.constantFrom(...operators), value) },
      {
        weight: 2,
        arbitrary: fc.tuple(
          fc.constant(name),
          fc.constantFrom('in', 'not_in'),
          fc.array(value, { minLength: 1, maxLength: 20 }),
        ),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom('is_null', 'not_null').map((op): TestFilter => [name, op]),
      },
    )
  })

const question: fc.Arbitrary<TestQuestion> = fc.record(
  {
    filters: fc.array(filter, { maxLength: 3 }),
    select: fc.uniqueArray(fc.constantFrom(...names.slice(0, -1)), { minLength: 1 }),
  },
  { requiredKeys: [] },
)

await t.test('random questions have the same answer through both doors', async (t) => {
  const world = await startTyped(t)
  const { token } = await world.subscribe(['typed:pro'])
  const seen = { answers: 0, rows: 0, refusals: 0 }
  const property = fc.asyncProperty(
    question,
    fc.integer({ min: 1, max: 51 }),
    async (asked, limit) => {
      const body = JSON.parse(jsonBody({ ...asked, limit })) as object
      const rest = await world.post('/v1/typed/query', token, body)
      const mcp = await callTool(world, token, 'query', { resource: 'typed', ...body })
      if (rest.status !== 200) {
        seen.refusals += 1
        const { error, detail } = rest.body
        if (!mcp.isError || !mcp.text.startsWith(inMcpWords(`${error}: ${detail}`))) {
          throw new Error(`REST: ${rest.text}\nMCP: ${mcp.text}`)
        }
        return
      }
      const answer = mcp.content as unknown as QueryAnswer
      seen.answers += 1
      seen.rows += answer.row_count
      t.same(JSON.parse(mcp.text), answer)
      if (answer.next_cursor !== rest.body.next_cursor) throw new Error('another cursor')
      const expected = restRows(rest.text, answer.columns)
      const rows = rowsOf(answer)
      if (rows.length !== expected.length) throw new Error('another number of rows')
      for (const [index, row] of rows.entries()) {
        const wrong = row.findIndex((cell, place) => !sameCell(cell, expected[index]?.[place]))
        if (wrong !== -1) {
          const cells = JSON.stringify([row[wrong], expected[index]?.[wrong]])
          throw new Error(`${answer.columns[wrong]}: ${cells}`)
        }
      }
      const left = Number(rest.headers['x-quota-rows-remaining'])
      const isExplained = answer.row_count === 0 && (asked.filters ?? []).length > 1
      if (answer.explained && !isExplained) throw new Error('explained for nothing')
      if (answer.quota?.rows_remaining !== left - answer.row_count - (answer.explained ? 1 : 0)) {
        throw new Error('another charge')
      }
    },
  )
  await fc.assert(property, { numRuns: runs(80) })
  t.ok(seen.answers > 5 && seen.rows > 5 && seen.refusals > 5, JSON.stringify(seen))
})
