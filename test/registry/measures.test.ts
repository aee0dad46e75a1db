import t from 'tap'
import type { Test } from 'tap'
import { plainOperand } from '../../src/columns/formula.js'
import { RegistryError, parseRegistry } from '../../src/registry/registry.js'
import { datasetOf, makeCatalogFolder } from '../catalog/live/fixtures/catalog-folder.js'

/** The mistakes in a dataset with these lines below title and files. */
function problemsOf(...lines: readonly string[]): readonly string[] {
  const body = ['title: Things', 'files: a.parquet', ...lines]
  const text = `datasets:\n  things:\n${body.map((line) => `    ${line}\n`).join('')}`
  try {
    parseRegistry(text, '/srv/registry.yaml')
  } catch (cause) {
    if (cause instanceof RegistryError) return cause.problems
    throw cause
  }
  return []
}

const select =
  'SELECT 1 AS "2110", 2 AS "2400", \'62.01\' AS okved, 5 AS n, [1] AS tags, 6 AS secret'

async function openWith(t: Test, lines: string) {
  const fixture = await makeCatalogFolder(t, {
    files: { 'a.parquet': select },
    registry: `datasets:\n  things:\n    title: Things\n    files: a.parquet\n${lines}`,
  })
  return datasetOf(await fixture.open())
}

await t.test('a measure is one function of one column, or of a quotient', async (t) => {
  const dataset = await openWith(
    t,
    `    measures:
      margin: {ratio: 2400/2110, unit: fraction, description: Profit by revenue}
      typical: {median: 2400 / 2110}
      revenue: {sum: '2110'}
      high: {p90: "2110"}
      kinds: {distinct: okved}
`,
  )
  t.equal(dataset.reason, null)
  const russian = { label: null, unit: null, description: null }
  t.same(dataset.measures, [
    {
      name: 'margin',
      function: 'ratio',
      operands: [plainOperand('2400'), plainOperand('2110')],
      label: null,
      unit: 'fraction',
      description: 'Profit by revenue',
      russian,
    },
    ...[
      ['typical', 'median', '2400', '2110'],
      ['revenue', 'sum', '2110'],
      ['high', 'p90', '2110'],
      ['kinds', 'distinct', 'okved'],
    ].map(([name, use, ...columns]) => ({
      name,
      function: use,
      operands: columns.map(plainOperand),
      label: null,
      unit: null,
      description: null,
      russian,
    })),
  ])
})

await t.test('a mistake in a measure is reported with its place and the right spelling', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['{average: a/b}', '5:25: $.average: unknown function. Did you mean "avg"?'],
    ['{ratios: a/b}', '5:25: $.ratios: unknown function. Did you mean "ratio"?'],
    [
      '{sum: a, descripton: x}',
      '5:33: $.descripton: unknown function. Did you mean "description"?',
    ],
    ['{unit: x}', '5:16: $: names no function. Example: {ratio: 2400/2110}'],
    ['{sum: a, avg: b}', '5:33: $.avg: sum is there already: name one function.'],
    [
      '{sum: 2110}',
      "5:25: $.sum: must be a column name, or two with a slash as in 2400/2110. Write '2110' in quotes.",
    ],
    ['{sum: "a,b"}', '5:25: $.sum: must be a column name, or two with a slash as in 2400/2110.'],
    ['{sum: a, unit: 5}', '5:33: $.unit: must be a text, or an object {en, ru}, got 5.'],
    [
      '5',
      '5:16: $: must be an object with a function, {ratio: 2400/2110, label, unit, description}, got 5.',
    ],
  ]
  for (const [measure, problem] of cases) {
    const expected = problem.replace('$', 'datasets.things.measures.margin')
    t.same(problemsOf(`measures: {margin: ${measure}}`), [`registry.yaml:${expected}`], measure)
  }
  t.match(problemsOf('measures: {Margin: {sum: a}}')[0], /a measure name must be 1 to 64 of a-z/)
  t.match(problemsOf('measures: {count: {sum: a}}')[0], /the name is that of a function/)
  t.match(problemsOf('measures: {p50: {sum: a}}')[0], /the name is that of a function/)
  t.end()
})

await t.test('what the files contradict is reported too', async (t) => {
  const reasonOf = async (measure: string, more = '') =>
    (await openWith(t, `    measures: {m: ${measure}}\n${more}`)).reason
  t.match(
    await reasonOf('{ratio: 2400/2111}'),
    /^registry\.yaml:5:20: there is no column "2111"\. Did you mean "2110"/,
  )
  t.match(
    await reasonOf('{median: okved}'),
    /median needs a number; okved has count, distinct, min, max$/,
  )
  t.match(await reasonOf('{ratio: okved/n}'), /ratio needs a number; okved has/)
  t.match(await reasonOf('{ratio: n}'), /ratio needs two columns: ratio\(a\/b\)$/)
  t.match(await reasonOf('{sum: n/n}'), /sum takes one column; ratio\(a\/b\) divides/)
  t.match(await reasonOf('{avg: n/n/n}'), /avg divides one column by one other/)
  t.match(
    await reasonOf('{sum: secret}', '    columns: {secret: {hidden: true}}\n'),
    /column "secret" is hidden; a measure shows what its columns hold$/,
  )
})

await t.test('aggregates are on, off, or at a higher price', async (t) => {
  t.same((await openWith(t, '')).aggregates, { rowsPerGroup: 1 })
  t.same((await openWith(t, '    aggregates: {}\n')).aggregates, { rowsPerGroup: 1 })
  t.same((await openWith(t, '    aggregates: {rows_per_group: 5}\n')).aggregates, {
    rowsPerGroup: 5,
  })
  t.equal((await openWith(t, '    aggregates: false\n')).aggregates, null)
  const name = 'datasets.things.aggregates'
  t.same(problemsOf('aggregates: true'), [
    `registry.yaml:5:5: ${name}: must be false or an object {rows_per_group}, got true.`,
  ])
  t.same(problemsOf('aggregates: {rows_per_group: 0}'), [
    `registry.yaml:5:18: ${name}.rows_per_group: must be a whole number of rows, 1 to 1000, got 0.`,
  ])
  t.same(problemsOf('aggregates: {rows_per_grup: 2}'), [
    `registry.yaml:5:18: ${name}.rows_per_grup: unknown key. Did you mean "rows_per_group"?`,
  ])
  t.end()
})
