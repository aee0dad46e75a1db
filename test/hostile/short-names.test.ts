import t from 'tap'
import { bring, forms } from '../support/brought-files.js'

// Guarantee: what a column is called changes no answer, also where SQL of ours has the same name.

const letters = [...'abcdefghijklmnopqrstuvwxyz']
const names = ['', '0'].flatMap((digit) => letters.map((letter) => `${letter}${digit}`))

/** Columns take turns at these; each in a row without and with a value. */
const values = [
  'i * 7',
  "MAP {'p' || i: [{'d': DATE '1500-01-01', 'x0': i}]}",
  "'text ' || i",
  "[{'e': i, 'key': DATE '2024-01-02' + i::INTEGER}]",
  "DATE '2024-01-02' + i::INTEGER",
  'i / 8',
  "{'x': [i], 'value': {'q': TIMESTAMP '2024-01-02 03:04:05'}}",
  '(i * 3)::DECIMAL(12,2)',
] as const

/** Names of columns of a value: numbers, texts and days. */
const namesOf = (value: number) => names.filter((_, at) => at % values.length === value)

async function world(t: Parameters<typeof bring>[0], prefix: string) {
  const columns = names.map(
    (name, at) =>
      `CASE WHEN i % 5 < 4 THEN ${values[at % values.length] ?? ''} END AS ${prefix}${name}`,
  )
  const rows = (year: number) =>
    `SELECT i AS ${prefix}id, ${year} AS ${prefix}year, ${columns.join(', ')} FROM range(40) t(i)`
  const lines = `    key: [${prefix}id, ${prefix}year]
    history: ${prefix}year
    lookups: [${prefix}c]
    columns: {${prefix}k: {search: true}}`
  return bring(t, {
    files: { 'data/1.parquet': rows(2023), 'data/2.parquet': rows(2024) },
    lines,
  })
}

function withoutVersion(answer: string): string {
  return answer.replace(/"(version|updated_at)":"[^"]*"/g, '')
}

/** Questions of every kind, by columns of every type. */
function questions(prefix: string): (readonly [query: string, below?: string])[] {
  const of = (value: number) => namesOf(value).map((name) => `${prefix}${name}`)
  const [whole, text, day, double, decimal] = [of(0), of(2), of(4), of(5), of(7)]
  const measures = whole
    .slice(0, decimal.length)
    .flatMap((name, at) => [
      `sum(${name})`,
      `avg(${double[at] ?? ''})`,
      `distinct(${text[at] ?? ''})`,
      `median(${decimal[at] ?? ''})`,
      `ratio(${name}/${decimal[at] ?? ''}+${name})`,
      `growth(${double[at] ?? ''}@2023/${double[at] ?? ''}@2024)`,
    ])
  const tens = Array.from({ length: Math.ceil(measures.length / 10) }, (_, at) =>
    measures.slice(at * 10, at * 10 + 10).join(','),
  )
  return [
    ['limit=100'],
    ['limit=100&format=csv'],
    ['', 'schema'],
    [`${prefix}id=in.3,5,9`],
    ...whole.map((name) => [`${name}=eq.21&${prefix}year=eq.2024`] as const),
    ...text.map((name) => [`${name}=contains.7&select=${prefix}id,${name}`] as const),
    ...day.map((name) => [`${name}=gt.2024-01-20&select=${name}`] as const),
    ...tens.map((some) => [`measures=${some}&group=${text[0] ?? ''}`, 'aggregate'] as const),
    ...day.map(
      (name) => [`measures=count&group=month(${name}),${prefix}year`, 'aggregate'] as const,
    ),
    ...text.map((name) => [`measures=count&group=prefix(${name},6)`, 'aggregate'] as const),
    ...decimal.map((name) => [`by=-${name}`, 'top'] as const),
  ]
}

await t.test('short names are answered as long ones', async (t) => {
  const [short, long] = [await world(t, ''), await world(t, 'long_')]
  t.equal(short.reason, null)
  const check = short.check.replace(/^ *info: "q": also parameters of requests.*\n/m, '')
  t.equal(check, long.check.replaceAll('long_', ''))
  t.same(
    short.warnings,
    long.warnings.map((each) => each.replaceAll('long_', '')),
  )
  const asked = questions('long_')
  for (const [at, [query, below]] of questions('').entries()) {
    const [longQuery = ''] = asked[at] ?? []
    const unpacked = await long.ask('dropped', longQuery, below)
    for (const form of forms) {
      const answer = await short.ask(form, query, below)
      // What describes a version depends on its form; rows and groups do not.
      const expected = below === 'schema' ? await long.ask(form, longQuery, below) : unpacked
      const name = `${below ?? ''}?${query}, ${form}`
      t.equal(withoutVersion(answer), withoutVersion(expected.replaceAll('long_', '')), name)
      t.notMatch(answer, '"error"')
    }
  }
})
