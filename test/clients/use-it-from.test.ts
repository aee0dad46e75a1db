import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { globSync } from 'tinyglobby'
import { listen } from '../support/answers.js'
import { startShipped } from '../support/shipped.js'

// Guarantee: every program of docs/use-it-from.md runs as it stands, costs what the page says, waits
// where waiting helps, and shows the server's own words where it does not.

const binaries = resolve('.venv', 'bin')
const [httpfs = ''] = globSync('.venv/lib/*/site-packages/duckdb_extension_httpfs/**/httpfs.*')

interface Program {
  readonly file: string
  readonly command: (file: string) => readonly [string, ...string[]]
}

const python: Program = { file: 'use.py', command: (file) => [join(binaries, 'python'), file] }
const programs: Readonly<Record<string, Program>> = {
  python,
  r: { file: 'use.r', command: (file) => ['Rscript', '--vanilla', file] },
  javascript: { file: 'use.mjs', command: (file) => [process.execPath, file] },
  go: { file: 'use.go', command: (file) => [join(binaries, 'go'), 'run', file] },
  java: { file: 'Use.java', command: (file) => ['java', file] },
  sql: {
    file: 'use.sql',
    command: (file) => [
      join(binaries, 'duckdb'),
      ...['-list', '-noheader', '-cmd', `LOAD '${resolve(httpfs)}'`, '-f', file],
    ],
  },
  sh: { file: 'use.sh', command: (file) => ['bash', '-e', '-o', 'pipefail', file] },
}

/** The blocks of code under each heading, in order. */
const blocks = [
  ...readFileSync('docs/use-it-from.md', 'utf8').matchAll(/^## (.+)$|^```(\w+)\n([^]*?)^```$/gm),
]
  .reduce<{ heading: string; language: string; text: string }[]>(
    (found, [, heading, language, text]) => {
      const last = found.at(-1)?.heading ?? ''
      if (heading !== undefined) return [...found, { heading, language: '', text: '' }]
      return [...found, { heading: last, language: language ?? '', text: text ?? '' }]
    },
    [],
  )
  .filter(({ language, heading }) => language !== '' && heading !== '')

interface Place {
  readonly base: string
  readonly token: string
}

/** Runs a block as a user does; resolves also if it fails. */
async function run(t: Test, { language, text }: (typeof blocks)[number], { base, token }: Place) {
  const program = programs[language]
  if (!program) throw new Error(`no program for ${language}`)
  const folder = mkdtempSync(join(t.testdirName, 'use-'))
  const file = join(folder, program.file)
  const said = text.replaceAll('http://127.0.0.1:8080', base).replaceAll('das_demo_opendata', token)
  writeFileSync(file, said)
  const [command, ...args] = program.command(file)
  const env = {
    ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], LC_ALL: 'C.UTF-8' },
    ...{ DAS_SERVER: base, DAS_TOKEN: token },
  }
  const options = { cwd: folder, env, maxBuffer: 64e6 }
  return await promisify(execFile)(command, args, options).then(
    ({ stdout }) => ({ folder, stdout, told: '' }),
    ({ stderr, stdout }: { stderr: string; stdout: string }) => ({
      ...{ folder, stdout: '', told: stdout + stderr },
    }),
  )
}

async function startQuota(t: Test) {
  const world = await startShipped(t)
  const base = `http://127.0.0.1:${await listen(world)}`
  const { token } = await world.subscribe(['financials:pro'])
  const used = async () => {
    const { datasets } = (await world.get('/v1/account', token)).body
    return (datasets as readonly { rows: { used: number } }[])[0]?.rows.used ?? 0
  }
  return { world, base, token, used }
}

/** A server that is busy, then over the rate, then passes requests on. */
async function startBusy(t: Test, base: string) {
  let count = 0
  const refusals = [
    [503, 'service_unavailable'],
    [429, 'rate_limit_exceeded'],
  ] as const
  const server = createServer(({ url, method, headers }, response) => {
    const refusal = method === 'GET' ? refusals[count] : undefined
    if (method === 'GET') count += 1
    if (refusal) {
      const [status, error] = refusal
      response.writeHead(status, { 'retry-after': '0', 'content-type': 'application/json' })
      response.end(JSON.stringify({ error, detail: 'Wait 0 s.' }))
      return
    }
    const passed = send(`${base}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    passed.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const languages = blocks.filter(({ heading }) => {
  return ['Python', 'R', 'JavaScript', 'Go', 'Java'].includes(heading)
})

await t.test('each program waits where that helps, and costs its rows once', async (t) => {
  t.equal(languages.length, 5)
  const { base, token, used } = await startQuota(t)
  for (const block of languages) {
    const before = await used()
    const { stdout, told } = await run(t, block, { base: await startBusy(t, base), token })
    t.equal(told, '', block.heading)
    t.equal(stdout.trim(), '7 rows of 7708004767', block.heading)
    t.equal((await used()) - before, 7, `${block.heading}: paid once`)
  }
})

await t.test('where the quota is used up, each program ends with the reason', async (t) => {
  const { world, base } = await startQuota(t)
  const { token } = await world.subscribe(['financials:pro'], { globalRows: 1 })
  await world.get('/v1/financials?inn=eq.7708004767&limit=1', token)
  for (const block of languages) {
    const { told } = await run(t, block, { base, token })
    t.match(told, /row_quota_exceeded/, block.heading)
    t.match(told, /This month's 1 rows over all datasets are used/, block.heading)
  }
})

await t.test('DuckDB, Excel and readers of URLs read the same rows', async (t) => {
  const { base, token, used } = await startQuota(t)
  for (const { heading, language, rows, printed } of [
    { heading: 'DuckDB', language: 'sql', rows: 7, printed: '7 rows of 7708004767' },
    { heading: 'Excel', language: 'sh', rows: 7, printed: '' },
    {
      ...{ heading: 'Readers that open a URL by themselves', language: 'python', rows: 21 },
      printed: '7 7 7 7708004767',
    },
  ]) {
    const block = blocks.find((each) => each.heading === heading && each.language === language)
    if (!block) throw new Error(`no block of ${language} under ${heading}`)
    const before = await used()
    const { folder, stdout, told } = await run(t, block, { base, token })
    t.equal(told, '', heading)
    t.ok(stdout.trim().endsWith(printed), `${heading}: ${stdout}`)
    t.equal((await used()) - before, rows, `${heading}: paid once`)
    if (heading === 'Excel') t.ok(statSync(join(folder, 'company.xlsx')).size > 5000)
  }
  const exported = blocks.findLast(({ language }) => language === 'sh')
  const { stdout } = await run(t, exported ?? { heading: '', language: '', text: '' }, {
    base,
    token,
  })
  t.equal(stdout.trim().split('\n').length, 7)
})
