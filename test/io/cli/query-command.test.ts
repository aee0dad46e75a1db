import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { CliParts } from '../../../src/cli/parts.js'
import { runCli } from '../../../src/cli/program.js'
import { buildCliFixture, fixtureFiles } from '../../cli/fixtures/cli-fixture.js'
import type { CliFixture, Outcome } from '../../cli/fixtures/cli-fixture.js'

const plans = `
    plans:
      pro:  {rows_per_month: 100000, history: all, price_rub: 0, rate_per_minute: 100000}
      tiny: {rows_per_month: 7, history: all, price_rub: 0}`

const registry = `
demo: {token: das_demo_test1}
datasets:
  financials:
    title: Statements
    files: data/financials/*.parquet
    limit: {default: 5, max: 6}
    require_filter: false
    demo: {inn: ["0000000002", "0000000001"]}${plans}
  odd:
    title: Odd
    files: data/odd.parquet${plans}
  long:
    title: Long
    files: data/long.parquet
    limit: {default: 50, max: 50}${plans}
`

const files = {
  ...fixtureFiles,
  'data/odd.parquet': `SELECT 12345678901234567.10::DECIMAL(20, 2) AS "2110", 'a,"b' AS name,
      {'k': [1, NULL], 't': '}"'} AS nested, NULL AS nothing, '' AS empty, true AS flag,
      E'\\x1b[31mred\\n' || repeat('y', 60) AS text`,
  // Two kilobytes a row that don't shrink to less than one.
  'data/long.parquet': `SELECT i AS id, array_to_string(
      [sha256(i || ' ' || part) FOR part IN range(32)], '') AS text FROM range(1000) t(i)`,
}

interface Place {
  readonly cli: CliFixture
  readonly base: string
  /** Sells a plan; the token. */
  readonly sell: (plan: string) => Promise<string>
  readonly query: (
    argv: readonly string[],
    environment?: Readonly<Record<string, string>>,
    isTerminal?: boolean,
  ) => Promise<Outcome>
}

/** A fixture whose server runs while `use` does. */
async function serving(t: Test, use: (place: Place) => Promise<void>): Promise<void> {
  const cli = await buildCliFixture(t, registry, files)
  const { das } = cli
  const served = await das(['serve', '--port', '0'], {
    environment: { npm_lifecycle_event: 'start' },
    whileServing: async ({ stderr }) => {
      const base = /at (\S+)\n/.exec(stderr)?.[1] ?? ''
      await use({
        cli,
        base,
        sell: async (plan) => {
          const create = ['subscription', 'create', '--email', 'a@example.org', '--json']
          const { stdout } = await das([...create, '--plan', plan])
          return (JSON.parse(stdout) as { token: string }).token
        },
        query: (argv, environment = {}, isTerminal = false) =>
          das(['query', ...argv], {
            environment: { DAS_SERVER: base, ...environment },
            isTerminal,
          }),
      })
    },
  })
  t.equal(served.code, 0)
}

await t.test('das query asks a running server for rows', async (t) => {
  await serving(t, async ({ cli, base, sell, query }) => {
    const token = { DAS_TOKEN: await sell('financials:pro') }
    const body = async (path: string) => {
      const headers = { authorization: `Bearer ${token.DAS_TOKEN}` }
      return (await fetch(`${base}/v1/${path}`, { headers })).text()
    }

    await t.test('outside a terminal it prints CSV exactly as the server writes it', async (t) => {
      const argv = ['financials', 'year=eq.2024', 'inn=lte.0000000003', '--select', 'name,2110']
      const found = await query(['financials', 'year=eq.2024', 'name=like.Company 1*'], token)
      t.same(
        { code: found.code, stderr: found.stderr.replace(/[\w-]{30,}/, 'C') },
        {
          code: 0,
          stderr: 'note: there are more rows; continue with --cursor C\n',
        },
      )
      const page = 'financials?year=eq.2024&name=like.Company+1*&format=csv'
      t.equal(found.stdout, await body(page))
      const wrong = await query(argv, token)
      t.equal(wrong.code, 2)
      t.match(
        wrong.stderr,
        /^error: Column "inn" \(string\) has no operator "lte"/,
        'the text is that of the server',
      )
    })

    await t.test(
      'on a terminal it prints a table with every digit, as wide as the screen',
      async (t) => {
        const odd = { DAS_TOKEN: await sell('odd:pro') }
        const argv = ['odd', '--select', 'name,2110,nothing,text,nested']
        const { code, stdout, stderr } = await query(argv, odd, true)
        t.same({ code, stderr }, { code: 0, stderr: '' })
        const [titles, row, ...rest] = stdout.split('\n')
        t.equal(titles, `name                  2110  nothing  text${' '.repeat(38)}nested`)
        const cut = `red ${'y'.repeat(35)}…`
        t.equal(row, `a,"b  12345678901234567.10        —  ${cut}  {"k":[1,null],"t":"}\\""}`)
        t.same(rest, [''])
        const json = await query([...argv, '--json'], odd, true)
        const read = JSON.parse(json.stdout) as unknown[]
        t.match(read, [{ name: 'a,"b', nested: { k: [1, null] }, nothing: null }])
        t.match(json.stdout, '12345678901234567.10')
        const lines = await query(['odd', '--format', 'ndjson', '--select', '2110,flag'], odd)
        t.equal(lines.stdout, '{"2110":12345678901234567.10,"flag":true}\n')
        const csv = await query(['odd', '--format', 'csv'], odd)
        const headers = { authorization: `Bearer ${odd.DAS_TOKEN}` }
        const same = await fetch(`${base}/v1/odd?format=csv`, { headers })
        t.equal(csv.stdout, await same.text())
      },
    )

    await t.test('--limit reads pages up to that many rows', async (t) => {
      const { code, stdout, stderr } = await query(['financials', '--limit', '14'], token)
      t.equal(code, 0)
      t.equal(stdout.split('\r\n').length, 1 + 14 + 1)
      const cursor = /--cursor (\S+)\n$/.exec(stderr)?.[1] ?? ''
      const argv = ['financials', '--limit', '100', '--format', 'ndjson']
      const rest = await query([...argv, '--cursor', cursor], token)
      t.equal(rest.stderr, '')
      const whole = await query(argv, token)
      const lines = whole.stdout.split('\n')
      t.equal(lines.length, 41)
      t.equal(rest.stdout, lines.slice(14).join('\n'))
    })

    await t.test(
      'groups come as a table, as CSV like that of the server, or as JSON',
      async (t) => {
        const argv = ['financials', '--group', 'year,prefix(name,7)']
        argv.push('--measures', 'revenue:sum(2110),count', '--order', '-year')
        const table = await query(argv, token, true)
        t.same(table, {
          code: 0,
          stderr: '',
          stdout:
            'year  prefix(name,7)  revenue  count\n' +
            '2024  Company            2100     20\n' +
            '2023  Company            2100     20\n',
        })
        const csv = await query([...argv, '2110=lte.100'], token)
        const parameters = 'group=year,prefix(name,7)&measures=revenue:sum(2110),count&order=-year'
        const rest = `financials/aggregate?2110=lte.100&${parameters}&format=csv`
        t.equal(csv.stdout, await body(rest))
        const first = await query([...argv, '--limit', '1', '--json'], token)
        t.match(JSON.parse(first.stdout), [{ year: 2024, revenue: 2100, count: 20 }])
        t.equal(first.stderr, 'note: these are 1 of 2 groups; --limit returns more\n')
        const none = await query([...argv, 'year=eq.1', '--having', 'count.gt.1'], token)
        t.equal(none.stdout, await body(`financials/aggregate?year=eq.1&${parameters}&format=csv`))
        const wrong = await query(['financials', '--measures', 'average(2110)'], token)
        t.match(wrong, { code: 2, stderr: /^error: measures: there is no function "average"/ })
      },
    )

    await t.test('--top prints the first rows by a column', async (t) => {
      const argv = ['financials', 'year=eq.2024', '--top', '-2110', '--limit', '2']
      const top = await query([...argv, '--select', 'name,2110'], token, true)
      t.same(top, {
        code: 0,
        stderr: '',
        stdout: 'name        2110\nCompany 20   200\nCompany 19   190\n',
      })
      const csv = await query(argv, token)
      t.equal(csv.stdout, await body('financials/top?year=eq.2024&by=-2110&limit=2&format=csv'))
      const much = await query(['financials', '--top', '2110', '--limit', '100'], token)
      t.match(much, { code: 2, stderr: /limit must be from 1 to 6/ })
    })

    await t.test(
      '--export writes all rows to a file that appears when it is complete',
      async (t) => {
        const out = join(cli.folder, 'all.ndjson')
        const argv = ['financials', '--export', '--format', 'ndjson']
        const { code, stdout, stderr } = await query([...argv, '-o', out], token, true)
        t.same({ code, stdout }, { code: 0, stdout: '' })
        t.match(stderr, /rows: \[.+\] \d+ % \(\d+ of 40 rows/)
        const pages = await query(['financials', '--limit', '40', '--format', 'ndjson'], token)
        t.equal(readFileSync(out, 'utf8'), pages.stdout)
        t.notOk(existsSync(`${out}.part`))
        const filtered = await query([...argv, 'year=eq.2023'], token)
        t.equal(filtered.stdout, pages.stdout.split('\n').slice(0, 20).join('\n') + '\n')
      },
    )

    await t.test(
      'a quota that ends during an export ends the command; the rows stay',
      async (t) => {
        const out = join(cli.folder, 'tiny.csv')
        const argv = ['financials', '--export', '-o', out]
        const { code, stderr } = await query(argv, { DAS_TOKEN: await sell('financials:tiny') })
        t.equal(code, 1)
        t.match(
          stderr,
          /holds the rows that arrived\.\nnote: there are more rows; continue with --cursor \S+\nerror: /,
        )
        t.notOk(existsSync(out))
        const kept = readFileSync(`${out}.part`, 'utf8')
        t.equal(kept.split('\r\n').length, 1 + 7 + 1)
        const again = await query([...argv, '--cursor', 'C'], token)
        t.match(again, { code: 2, stderr: /tiny\.csv\.part holds rows of an earlier query/ })
        t.equal(readFileSync(`${out}.part`, 'utf8'), kept, 'the file is unchanged')
      },
    )

    await t.test('a table shows the rows that were paid for before a failure', async (t) => {
      const tiny = { DAS_TOKEN: await sell('financials:tiny') }
      const argv = ['financials', '--limit', '20', '--select', 'inn']
      const { code, stdout, stderr } = await query(argv, tiny, true)
      t.equal(code, 1)
      t.equal(stdout.split('\n').length, 1 + 7 + 1)
      t.match(stderr, /note: there are more rows; continue with --cursor \S+\nerror: /)
    })

    await t.test(
      'an output file that cannot be written is reported before any request',
      async (t) => {
        const out = join(cli.folder, 'none.csv')
        const refused = await query(['financials', 'inn=eq', '-o', out], token)
        t.equal(refused.code, 2)
        t.notOk(existsSync(`${out}.part`), 'an invalid question leaves no file')
        const tiny = { DAS_TOKEN: await sell('financials:tiny') }
        const nowhere = await query(['financials', '-o', join(cli.folder, 'no', 'x.csv')], tiny)
        t.match(nowhere, { code: 2, stderr: /^error: --output: ENOENT/ })
        const folder = await query(['financials', '-o', cli.folder], tiny)
        t.match(folder, { code: 2, stderr: /^error: --output: .+ is a folder\./ })
        const whole = await query(['financials', '--limit', '7', '--format', 'ndjson'], tiny)
        t.equal(whole.stdout.split('\n').length, 7 + 1, 'the query that failed was not charged')
      },
    )

    await t.test('the token comes from a file, the environment or the registry', async (t) => {
      const file = join(cli.folder, 'token')
      writeFileSync(file, `${token.DAS_TOKEN}\n`)
      const argv = ['financials', '--limit', '100', '--select', 'inn']
      const own = await query([...argv, '--token-file', file])
      t.equal(own.stdout.split('\r\n').length, 42)
      const demo = await query(argv)
      t.equal(demo.stdout.split('\r\n').length, 6, 'only the demo rows')
      const revoked = await query(argv, { DAS_TOKEN: 'das_live_none' })
      t.same({ code: revoked.code, stdout: revoked.stdout }, { code: 1, stdout: '' })
      t.match(revoked.stderr, /^error: This token is unknown or has ended, or none/)
      const none = await query(argv, { DAS_REGISTRY: join(cli.folder, 'none.yaml') })
      t.match(none, { code: 2, stderr: /^error: There is no token\. Set DAS_TOKEN, or/ })
      const missing = await query([...argv, '--token-file', `${file}.none`])
      t.match(missing, { code: 2, stderr: /^error: --token-file: ENOENT/ })
    })

    await t.test('wrong usage ends with 2 and sends no request', async (t) => {
      const nowhere = { DAS_SERVER: 'http://127.0.0.1:1', DAS_TOKEN: 'das_live_x' }
      const cases: readonly (readonly [RegExp, ...string[]])[] = [
        [/^error: "2024" is not a filter\. Write COLUMN=OPERATOR\.VALUE/, 'financials', '2024'],
        [/^error: "limit" is not a filter here\. Use the option --limit/, 'financials', 'limit=3'],
        [/^error: --limit must be a whole number of rows, .*got "0"/, 'financials', '--limit', '0'],
        [/^error: --export returns all rows/, 'financials', '--export', '--limit', '3'],
        [/^error: A table is for the screen/, 'financials', '--export', '--format', 'table'],
        [/^error: Use --json or --format/, 'financials', '--json', '--format', 'csv'],
        [/^error: --server must be an address, .*got "x"/, 'financials', '--server', 'x'],
        [/'xml' is invalid/, 'financials', '--format', 'xml'],
        [/missing required argument/],
      ]
      for (const [stderr, ...argv] of cases) {
        const outcome = await query(argv, nowhere)
        t.match(outcome, { code: 2, stdout: '', stderr }, argv.join(' '))
      }
      const silent = await query(['financials'], nowhere)
      t.match(silent, { code: 1, stderr: /^error: No server answers at http:\/\/127\.0\.0\.1:1\./ })
    })

    await t.test(
      'an export continues after a broken connection without duplicate rows',
      async (t) => {
        const long = { DAS_TOKEN: await sell('long:pro') }
        const proxy = await breakingProxy(t, new URL(base).port, [4000, 260_000, 400, 333_333])
        const argv = ['long', '--export', '--format', 'ndjson', '--select', 'id,text']
        const { code, stdout, stderr } = await query(argv, { ...long, DAS_SERVER: proxy.base })
        t.same({ code, stderr }, { code: 0, stderr: '' })
        const ids = stdout
          .split('\n')
          .slice(0, -1)
          .map((line) => (JSON.parse(line) as { id: number }).id)
        t.same(
          ids,
          Array.from({ length: 1000 }, (_, id) => id),
        )
        t.equal(proxy.broken(), 4)
        t.equal(proxy.refused(), 4, 'it also waits for a proxy whose server is away')
      },
    )

    await t.test('a page is requested only after the one before it was read', async (t) => {
      const long = await sell('long:pro')
      const waiting: (() => void)[] = []
      const parts = {
        version: '0',
        stdin: Readable.from([]),
        stdout: { write: (_: string, done: () => void) => waiting.push(done) },
        stderr: { write: () => undefined },
        environment: { DAS_SERVER: base, DAS_TOKEN: long },
        untilInterrupted: (work: (signal: AbortSignal) => Promise<unknown>) =>
          work(new AbortController().signal),
      }
      const ended = runCli(['query', 'long', '--limit', '150'], parts as unknown as CliParts)
      const used = async () => {
        const headers = { authorization: `Bearer ${long}` }
        const account = (await (await fetch(`${base}/v1/account`, { headers })).json()) as {
          datasets: readonly { rows: { used: number } }[]
        }
        return account.datasets[0]?.rows.used
      }
      for (const rows of [50, 100, 150]) {
        while (waiting.length === 0) await sleep(10)
        await sleep(100)
        t.equal(await used(), rows)
        waiting.shift()?.()
      }
      while (waiting.length === 0) await sleep(10)
      waiting.shift()?.()
      t.equal(await ended, 0)
    })

    await t.test('an export ends when the reader of its output has gone', async (t) => {
      const long = await sell('long:pro')
      const [written, errors]: [string[], string[]] = [[], []]
      const stdout = {
        write: (text: string, done: () => void) => {
          written.push(text)
          done()
        },
        get writable() {
          return written.length < 2
        },
      }
      const parts = {
        version: '0',
        stdin: Readable.from([]),
        stdout,
        stderr: { write: (text: string) => errors.push(text) },
        environment: { DAS_SERVER: base, DAS_TOKEN: long },
        untilInterrupted: (work: (signal: AbortSignal) => Promise<unknown>) =>
          work(new AbortController().signal),
      }
      // `das query` uses no other part of the process.
      const code = await runCli(['query', 'long', '--export'], parts as unknown as CliParts)
      t.equal(code, 0, errors.join(''))
      t.equal(written.join('').split('\r\n').length, 1 + 2 * 50 + 1, 'two pages')
    })
  })
})

/**
 * Forwards connections and breaks the first exports after these numbers of bytes. It refuses the
 * next connection, like a proxy whose server is away.
 */
async function breakingProxy(t: Test, port: string, breaks: readonly number[]) {
  const sockets: Socket[] = []
  let [broken, refused] = [0, 0]
  const proxy = createServer((client) => {
    const server = connect(Number(port), '127.0.0.1')
    sockets.push(client, server)
    let left = Infinity
    client.on('data', (chunk) => {
      if (!String(chunk).includes('/export?')) return server.write(chunk)
      if (refused < broken) {
        refused += 1
        return client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>')
      }
      left = breaks[broken] ?? Infinity
      return server.write(chunk)
    })
    server.on('data', (chunk: Buffer) => {
      client.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) return
      broken += 1
      client.destroy()
      server.destroy()
    })
    for (const socket of [client, server]) socket.on('error', () => undefined)
    client.on('close', () => server.destroy())
    server.on('close', () => client.end())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const { port: own } = proxy.address() as AddressInfo
  return { base: `http://127.0.0.1:${own}`, broken: () => broken, refused: () => refused }
}
