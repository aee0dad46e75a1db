import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import t from 'tap'
import type { Test } from 'tap'
import { listen } from '../support/answers.js'
import { startShipped } from '../support/shipped.js'
import type { World } from '../support/world.js'

const run = promisify(execFile)
/** Made by `npm run test:clients`. */
const binaries = resolve('.venv', 'bin')

/** What the generated clients of both languages ask, as URLs that a person writes. */
const urls = [
  '/v1/financials?inn=eq.7708004767&year=gte.2020&year=lte.2021&select=inn,year,2110',
  '/v1/financials?inn=in.0261012138,7708503727&year=eq.2021',
  '/v1/financials?kpp=is_null&year=eq.2021&select=2110',
  `/v1/financials?name=contains.${encodeURIComponent('аэрофлот')}&select=name,year&limit=2`,
  '/v1/financials/top?by=-2110&year=eq.2024&select=inn,2110&limit=3',
  '/v1/financials/aggregate?group=year,okfs&measures=count,sum(2110)&year=gte.2023&year=lte.2024',
  '/v1/financials/aggregate?group=prefix(okved,2)&measures=companies:distinct(inn)' +
    '&having=companies.gte.2&order=-companies&limit=2',
  '/v1/financials/schema',
]

interface Asked {
  readonly answers: readonly unknown[]
  /** Rows of a walk over pages of two rows. */
  readonly walked: readonly unknown[]
  /** The answer to the first question, as JSON in a body, and as CSV. */
  readonly posted: unknown
  readonly csv: string
  /** The first aggregate, asked in a body. */
  readonly summed: unknown
}

/** What a program asked and was answered is what the URLs answer. */
async function asksTheSame(t: Test, world: World, token: string, asked: Asked): Promise<void> {
  for (const [index, url] of urls.entries()) {
    const { status, body } = await world.get(url, token)
    t.equal(status, 200, url)
    t.same(asked.answers[index], body, url)
  }
  const [rows = '', , , , , groups] = urls
  t.same(asked.posted, (await world.get(rows, token)).body, 'a question in a body')
  t.same(asked.summed, (await world.get(groups ?? '', token)).body, 'an aggregate in a body')
  t.equal(asked.csv, (await world.get(`${rows}&format=csv`, token)).text, 'CSV')
  const all = await world.get('/v1/financials?inn=eq.7708004767&select=year', token)
  t.same(asked.walked, all.body.data, 'a walk')
}

/** A server, a token, and the document that this token is shown, as a file. */
async function startDocumented(t: Test) {
  const world = await startShipped(t)
  const { token } = await world.subscribe(['financials:business', 'procurement:pro'])
  const document = join(world.folder, 'openapi.json')
  writeFileSync(document, (await world.get('/openapi.json', token)).text)
  return { world, token, document, base: `http://127.0.0.1:${await listen(world)}` }
}

/** Uses each answer by its type: this program does not compile if a type is missing or wrong. */
const typescriptProgram = `
import createClient from 'openapi-fetch'
import type { paths } from './schema.js'

const [baseUrl, token] = process.argv.slice(2)
const headers = { Authorization: \`Bearer \${token}\` }
const client = createClient<paths, 'application/json'>({ baseUrl, headers })
const answers: unknown[] = []

function found<T>({ data, error }: { data?: T; error?: { error: string; detail: string } }): T {
  if (data === undefined) throw new Error(error?.detail)
  answers.push(data)
  return data
}

const question = {
  inn: ['eq.7708004767'],
  year: ['gte.2020', 'lte.2021'],
  select: ['inn', 'year', '2110'],
} satisfies paths['/v1/financials']['get']['parameters']['query']
const page = found(await client.GET('/v1/financials', { params: { query: question } }))
const revenue: number | null | undefined = page.data[0]?.['2110']
if (revenue === undefined) throw new Error('no revenue')
found(await client.GET('/v1/financials', {
  params: { query: { inn: ['in.0261012138,7708503727'], year: ['eq.2021'] } },
}))
found(await client.GET('/v1/financials', {
  params: { query: { kpp: ['is_null'], year: ['eq.2021'], select: ['2110'] } },
}))
found(await client.GET('/v1/financials', {
  params: { query: { name: ['contains.аэрофлот'], select: ['name', 'year'], limit: 2 } },
}))
found(await client.GET('/v1/financials/top', {
  params: { query: { by: '-2110', year: ['eq.2024'], select: ['inn', '2110'], limit: 3 } },
}))
const summary = { group: ['year', 'okfs'], measures: ['count', 'sum(2110)'] }
const groups = found(await client.GET('/v1/financials/aggregate', {
  params: { query: { ...summary, year: ['gte.2023', 'lte.2024'] } },
}))
const count: number = groups.groups
if (count !== groups.data.length) throw new Error('groups')
found(await client.GET('/v1/financials/aggregate', {
  params: {
    query: {
      group: ['prefix(okved,2)'],
      measures: ['companies:distinct(inn)'],
      having: ['companies.gte.2'],
      order: ['-companies'],
      limit: 2,
    },
  },
}))
const schema = found(await client.GET('/v1/financials/schema'))
const names: string[] = schema.columns.map(({ name }) => name)
if (names.length !== 131) throw new Error('columns')

const walked: unknown[] = []
let cursor: string | null | undefined
do {
  const { data } = await client.GET('/v1/financials', {
    params: {
      query: { inn: ['eq.7708004767'], select: ['year'], limit: 2, ...(cursor && { cursor }) },
    },
  })
  walked.push(...(data?.data ?? []))
  cursor = data?.next_cursor
} while (cursor)

const posted = await client.POST('/v1/financials/query', {
  body: {
    filters: [
      { column: 'inn', op: 'eq', value: '7708004767' },
      { column: 'year', op: 'in', value: [2020, 2021] },
    ],
    select: question.select,
  },
})
const summed = await client.POST('/v1/financials/aggregate', {
  body: { ...summary, filters: [{ column: 'year', op: 'in', value: [2023, 2024] }] },
})

const texts = createClient<paths>({ baseUrl, headers })
const csv = await texts.GET('/v1/financials', {
  params: { query: { ...question, format: 'csv' } },
  parseAs: 'text',
})
const text: string | undefined = csv.data
// Without a media type, an answer is a page or a text: neither type is lost.
const either = (await texts.GET('/v1/financials', { params: { query: question } })).data
if (either === undefined || typeof either === 'string') throw new Error('no page')
const next: string | null = either.next_cursor
// @ts-expect-error no such column
await client.GET('/v1/financials', { params: { query: { ...question, select: ['inm'] } } })
console.log(JSON.stringify({ answers, walked, posted: posted.data, summed: summed.data, csv: text, next }))
`

await t.test('openapi-typescript and openapi-fetch', async (t) => {
  const { world, token, document, base } = await startDocumented(t)
  const { folder } = world
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'ask.ts'), typescriptProgram)
  const types = astToString(await openapiTS(pathToFileURL(document)))
  writeFileSync(join(folder, 'schema.d.ts'), types)
  const options = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--target',
    'es2022',
    '--types',
    'node',
  ]
  const tsc = resolve('node_modules', '.bin', 'tsc')
  const compiled = await run(tsc, [...options, '--module', 'nodenext', 'ask.ts'], {
    cwd: folder,
  }).catch((cause: unknown) => cause as { stdout: string })
  t.equal(compiled.stdout, '', 'compiles')
  const { stdout } = await run(process.execPath, [join(folder, 'ask.js'), base, token])
  await asksTheSame(t, world, token, JSON.parse(stdout) as Asked)
})

await t.test('openapi-python-client', async (t) => {
  const { world, token, document, base } = await startDocumented(t)
  const { folder } = world
  writeFileSync(join(folder, 'config.json'), '{"post_hooks": []}')
  const generator = join(binaries, 'openapi-python-client')
  const output = join(folder, 'das_client')
  const options = ['--meta', 'none', '--fail-on-warning', '--config', join(folder, 'config.json')]
  await run(generator, ['generate', '--path', document, '--output-path', output, ...options])
  const python = join(binaries, 'python')
  await run(python, ['-m', 'compileall', '-q', output])
  const program = resolve('test', 'clients', 'generated_client.py')
  const { stdout } = await run(python, [program, base], {
    env: { PYTHONPATH: folder, DAS_TOKEN: token },
  })
  await asksTheSame(t, world, token, JSON.parse(stdout) as Asked)
})
