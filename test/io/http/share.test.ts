import { Agent, request } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import { listen } from '../../support/answers.js'
import { isNight } from '../../support/runs.js'
import { startWorld } from '../../support/world.js'

// Guarantee: one busy token never starves another. Tokens that ask the dearest questions which the
// grammar allows, two at a time, never make another token's look-ups wait until one of them ends.

const files = 20
const rowsPerFile = 100_000
const lookupsMin = 150
/** Where look-ups starve, so that the test ends and says so. */
const phaseMaxMs = 20_000
/** As long as two dear questions take. */
const phaseMinMs = 6000
/** Look-ups that may see a dear question end while they are answered, of all. */
const overtakenMax = 0.25
const filesOf = () =>
  Object.fromEntries(
    Array.from({ length: files }, (_, file) => [
      `data/${String(file).padStart(2, '0')}.parquet`,
      `SELECT i AS id, (hash(i) % 100000)::INT AS num, 't' || hash(i, 1) % 100000 AS text,
         2015 + i % 10 AS year
       FROM range(${file * rowsPerFile}, ${(file + 1) * rowsPerFile}) t(i)`,
    ]),
  )

/** The same files twice: a look-up may take long on a slow machine, a dear question ends soon. */
const entryOf = (name: string, timeoutSeconds: number) => `
  ${name}:
    title: Big
    files: data/*.parquet
    key: id
    timeout_seconds: ${timeoutSeconds}
    plans: {pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 100000}}`
const registry = `datasets:${entryOf('big', 3)}${entryOf('same', 30)}`

/** 36 lists of 700 values each that exclude no row, and one that excludes all. */
const dearest = JSON.stringify({
  filters: [
    ...Array.from({ length: 36 }, (_, list) => ({
      column: list % 2 === 0 ? 'num' : 'text',
      op: 'not_in',
      value: Array.from({ length: 700 }, (_, value) =>
        list % 2 === 0 ? String(100_000 + list * 700 + value) : `x${list}-${value}`,
      ),
    })),
    { column: 'year', op: 'not_in', value: Array.from({ length: 700 }, (_, year) => 2015 + year) },
  ],
})

async function startBusy(t: Test, slots: string) {
  const world = await startWorld(t, { files: filesOf(), registry, settings: { querySlots: slots } })
  const port = await listen(world)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const ask = (
    token: string,
    path: string,
    body?: string,
    signal = new AbortController().signal,
  ): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = {
        Authorization: `Bearer ${token}`,
        ...(body !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        }),
      }
      const method = body === undefined ? 'GET' : 'POST'
      const options = { host: '127.0.0.1', port, path, method, headers, agent, signal }
      const sent = request(options, (answer) => {
        answer.resume()
        answer.once('end', () => {
          resolve(answer.statusCode ?? 0)
        })
      })
      sent.once('error', reject)
      sent.end(body)
    })
  const token = async (name = 'big') => (await world.subscribe([`${name}:pro`])).token
  return { ask, token }
}

/**
 * Look-ups one after another, so many and for so long at least: their statuses, and the share of
 * them during which `ended()` grew.
 */
async function lookUp(ask: (path: string) => Promise<number>, ended: () => number) {
  const statuses = new Set<number>()
  let [asked, overtaken] = [0, 0]
  const startMs = performance.now()
  for (let spentMs = 0; spentMs < phaseMaxMs; spentMs = performance.now() - startMs) {
    if (asked >= lookupsMin && spentMs >= phaseMinMs && ended() > 0) break
    const before = ended()
    statuses.add(await ask(`/v1/same?id=eq.${(asked * 7919) % (files * rowsPerFile)}`))
    asked += 1
    if (ended() > before) overtaken += 1
  }
  return { statuses: [...statuses], overtakenShare: overtaken / asked }
}

/** Slots, and how many tokens ask at once each day; at night, both numbers of both. */
for (const [slots, everyday] of [
  ['1', 3],
  ['2', 1],
] as const) {
  await t.test(
    `with ${slots} slots, look-ups are answered beside the most expensive questions`,
    async (t) => {
      const { ask, token } = await startBusy(t, slots)
      const polite = await token('same')
      for (const tokens of isNight ? [1, 3] : [everyday]) {
        const over = new AbortController()
        const statuses: number[] = []
        const busy = (await Promise.all(Array.from({ length: tokens }, () => token()))).flatMap(
          (each) =>
            [1, 2].map(async () => {
              while (!over.signal.aborted) {
                const asked = ask(each, '/v1/big/query', dearest, over.signal)
                await asked.then((status) => statuses.push(status)).catch(() => undefined)
              }
            }),
        )
        const beside = await lookUp(
          (path) => ask(polite, path),
          () => statuses.length,
        )
        over.abort()
        await Promise.all(busy)
        const name = `${tokens} tokens`
        const share = `${(beside.overtakenShare * 100).toFixed(0)} %`
        t.comment(`${name}: ${share} saw one end; theirs end with ${[...new Set(statuses)].join()}`)
        t.ok(statuses.length > 0, `${name}: theirs were asked meanwhile`)
        t.strictSame(beside.statuses, [200], `${name}: every look-up is answered`)
        t.ok(beside.overtakenShare <= overtakenMax, `${name}: ${share} waited until one ended`)
      }
    },
  )
}
