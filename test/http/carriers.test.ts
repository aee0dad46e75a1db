import fc from 'fast-check'
import t from 'tap'
import { holdsNoSecret } from '../support/answers.js'
import { askBoth } from '../support/carriers.js'
import type { TestFilter, TestQuestion, TestValue } from '../support/carriers.js'
import { startShipped } from '../support/shipped.js'
import type { World } from '../support/world.js'
import { runs } from '../support/runs.js'

interface SchemaColumn {
  readonly name: string
  readonly type: string
  readonly operators: readonly string[]
  /** Values that the data hold; of an empty column, none. */
  readonly values: readonly (string | number | boolean)[]
}

const strange = ['', ' ', ',', '"', '\\', '(', 'a,b', '%', '*', '1', "'; --", 'Ж"Ж', '\u200b', '\t']

/** The columns of a dataset as its schema has them, each with values of its rows. */
async function columnsOf(
  world: World,
  token: string,
  dataset: string,
): Promise<readonly SchemaColumn[]> {
  const schema = await world.get(`/v1/${dataset}/schema`, token)
  const first = await world.get(`/v1/${dataset}?${await filterOf(world, token, dataset)}`, token)
  const columns = schema.body['columns'] as readonly Omit<SchemaColumn, 'values'>[]
  return columns.map((column) => {
    const served = first.body.data.slice(0, 40).map((row) => row[column.name])
    const values = served.filter(
      (value): value is string | number | boolean =>
        ['string', 'boolean'].includes(typeof value) || Number.isSafeInteger(value),
    )
    return { ...column, values: [...new Set(values)] }
  })
}

async function filterOf(world: World, token: string, dataset: string): Promise<string> {
  const schema = await world.get(`/v1/${dataset}/schema`, token)
  const [example = ''] = schema.body['examples'] as readonly string[]
  return `${example.split('?')[1] ?? ''}`
}

function filters(columns: readonly SchemaColumn[]): fc.Arbitrary<TestFilter> {
  return fc.constantFrom(...columns).chain((column) => {
    const one = fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(...column.values, '1') },
      { weight: 2, arbitrary: fc.maxSafeInteger().map(String) },
      { weight: 1, arbitrary: fc.constantFrom(...strange) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    )
    const list = fc.array(one, { minLength: 1, maxLength: 5 })
    return fc
      .constantFrom(...column.operators, ...column.operators, 'like')
      .chain((op): fc.Arbitrary<TestFilter> => {
        if (op === 'is_null' || op === 'not_null') return fc.constant([column.name, op])
        const value: fc.Arbitrary<TestValue> = op === 'in' || op === 'not_in' ? list : one
        const texts = column.type === 'string' ? value.map(asText) : value
        return texts.map((each) => [column.name, op, each])
      })
  })
}

/** A string column takes no bare number in JSON; through the URL all is text. */
function asText(value: TestValue): TestValue {
  return Array.isArray(value) ? value.map(String) : String(value)
}

function questions(columns: readonly SchemaColumn[]): fc.Arbitrary<TestQuestion> {
  const names = columns.map(({ name }) => name)
  return fc
    .record(
      {
        filters: fc.array(filters(columns), { minLength: 0, maxLength: 3 }),
        select: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }),
        limit: fc.constantFrom(1, 1, 2, 2, 10, 10, 1000, 0, 1001),
        mistake: fc.constantFrom({}, {}, {}, {}, { cursor: 'AAAA' }, { cursor: 'é' }),
      },
      { requiredKeys: ['filters', 'select', 'mistake'] },
    )
    .map(({ mistake, ...question }) => ({ ...question, ...mistake }))
}

await t.test('URL and POST are one grammar: equal questions have equal answers', async (t) => {
  const world = await startShipped(t)
  const { token } = await world.subscribe(['financials:business', 'procurement:pro'])
  const served = { pages: 0, rows: 0, refused: 0 }
  for (const dataset of ['financials', 'procurement']) {
    const columns = await columnsOf(world, token, dataset)
    await fc.assert(
      fc.asyncProperty(questions(columns), async (question) => {
        const answer = await askBoth(t, world, token, dataset, question)
        holdsNoSecret(t, answer.text.replaceAll(/"url":"[^"]*"/g, ''), 'an answer')
        if (answer.status === 400) served.refused += 1
        else if (answer.status === 200) served.pages += 1
        else throw new Error(answer.text)
        served.rows += answer.body.data?.length ?? 0
        const cursor = answer.body.next_cursor
        if (typeof cursor === 'string') {
          const next = await askBoth(t, world, token, dataset, { ...question, cursor })
          if (next.status !== 200) throw new Error(next.text)
        }
      }),
      { numRuns: runs(60) },
    )
  }
  t.ok(served.pages > 20 && served.refused > 20 && served.rows > 40, JSON.stringify(served))
})
