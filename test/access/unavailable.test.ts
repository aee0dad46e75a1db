import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { isError } from '../support/answers.js'
import { startWorld, writeParquet } from '../support/world.js'
import type { World } from '../support/world.js'

const plans = '{pro: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 10000}}'

const damages: Readonly<Record<string, (path: string) => void>> = {
  cut: (path) => {
    truncateSync(path, readFileSync(path).length - 10)
  },
  empty: (path) => {
    writeFileSync(path, '')
  },
  garbage: (path) => {
    writeFileSync(path, Buffer.alloc(5000, 'PAR1 garbage '))
  },
  text: (path) => {
    writeFileSync(path, 'year,inn\n2024,1\n')
  },
  missing: (path) => {
    rmSync(path)
  },
}

/** A folder with a good dataset and one for each damage, and its registry. */
async function damagedFolder(t: Test, names: readonly string[]): Promise<string> {
  const folder = t.testdir({})
  const files = Object.fromEntries(
    names.map((name) => [`data/${name}.parquet`, 'SELECT i AS id FROM range(10000) t(i)']),
  )
  await writeParquet(folder, files)
  for (const name of names) damages[name]?.(join(folder, `data/${name}.parquet`))
  const entries = names.map(
    (name) => `  ${name}: {title: T, files: data/${name}.parquet, plans: ${plans}}`,
  )
  writeFileSync(join(folder, 'registry.yaml'), `datasets:\n${entries.join('\n')}\n`)
  return folder
}

function startOver(t: Test, folder: string): Promise<World> {
  // With a limit small files are linked too, so that a test can damage what is served.
  const settings = { registry: join(folder, 'registry.yaml'), diskLimit: '1GB' }
  return startWorld(t, { files: {}, registry: '', settings })
}

/** The log line of the last request, which is written after the answer. */
async function lastLine({ log }: World): Promise<Readonly<Record<string, unknown>>> {
  await setImmediate()
  const line = log.findLast((each) => each.includes('"msg":"request"')) ?? '{}'
  return JSON.parse(line) as Readonly<Record<string, unknown>>
}

// Guarantee: one broken file takes down its own dataset and nothing else, and reveals nothing more.
await t.test('a dataset that can not be read is 503 for its subscribers alone', async (t) => {
  const names = ['good', ...Object.keys(damages)]
  const folder = await damagedFolder(t, names)
  await t.test('the others are served', async (t) => {
    const world = await startOver(t, folder)
    const { token } = await world.subscribe(names.map((name) => `${name}:pro`))
    const other = (await world.subscribe(['good:pro'])).token
    for (const name of Object.keys(damages)) {
      for (const url of [`/v1/${name}`, `/v1/${name}/schema`, `/v1/${name}?nonsense`]) {
        const answer = await world.get(url, token)
        isError(
          t,
          answer,
          'service_unavailable',
          /^This dataset is not available now\. Try again in a minute\.$/,
        )
        t.equal(answer.headers['retry-after'], '60')
        t.match(await lastLine(world), { status: 503, dataset: name }, 'its log line names it')
        isError(
          t,
          await world.get(url, other),
          'not_found',
          /no dataset of this name for this token/,
        )
        t.notOk('dataset' in (await lastLine(world)), 'but not for another token')
        isError(t, await world.get(url), 'unauthorized')
      }
      t.equal((await world.get(`/v1/${name}`, token, { method: 'HEAD' })).status, 503)
      const reason = world.log.find(
        (line) => line.includes('dataset unavailable') && line.includes(`"dataset":"${name}"`),
      )
      t.match(reason, `data/${name}.parquet`, 'the log says why')
      t.notMatch(reason, folder, 'with a path relative to the registry')
      t.match(reason, '"level":50')
    }
    t.equal((await world.get('/v1/good?limit=1', token)).status, 200)
    t.match((await world.get('/v1/', token)).body.data, [{ name: 'good' }])
    const account = await world.get('/v1/account', token)
    t.same(
      (account.body['datasets'] as { name: string }[]).map(({ name }) => name),
      names,
      'the account lists what was bought',
    )
    t.equal((await world.get('/readyz')).status, 200)
    for (const line of world.log) t.notMatch(line, folder)
  })
})

await t.test('the demo token gets 503 for a demo dataset that could not be opened', async (t) => {
  const folder = await damagedFolder(t, ['good', 'missing'])
  const path = join(folder, 'registry.yaml')
  const demo = (name: string) => `data/${name}.parquet, demo: {id: [1]}`
  const text = readFileSync(path, 'utf8').replace('data/missing.parquet', demo('missing'))
  writeFileSync(path, `demo: {token: das_demo_unavailable}\n${text}`)
  await t.test('and 404 for every other name', async (t) => {
    const world = await startOver(t, folder)
    for (const url of ['/v1/missing', '/v1/missing/schema']) {
      const answer = await world.get(url, 'das_demo_unavailable')
      isError(t, answer, 'service_unavailable', /^This dataset is not available now\./)
    }
    const hidden = await world.get('/v1/good', 'das_demo_unavailable')
    const unknown = await world.get('/v1/nothing', 'das_demo_unavailable')
    isError(t, hidden, 'not_found')
    t.equal(hidden.text, unknown.text)
  })
})

await t.test('a service without data is alive and not ready', async (t) => {
  const folder = await damagedFolder(t, ['cut', 'missing'])
  await t.test('it says so', async (t) => {
    const world = await startOver(t, folder)
    t.equal((await world.get('/healthz')).status, 200)
    const ready = await world.get('/readyz')
    isError(t, ready, 'service_unavailable', /^The service is not ready\. Try again in 5 s\.$/)
    t.match(ready.headers['retry-after'], /^\d+$/)
  })
})

// Guarantee: what breaks while it is served is refused, never half answered.
await t.test('a file damaged under the running service is 503, without a path', async (t) => {
  const folder = await damagedFolder(t, ['good', 'whole'])
  await t.test('the other dataset is still served', async (t) => {
    const world = await startOver(t, folder)
    const { token } = await world.subscribe(['good:pro', 'whole:pro'])
    const whole = await world.get('/v1/whole?id=gte.9000&limit=1', token)
    t.equal(whole.status, 200)
    const path = join(folder, 'data/whole.parquet')
    const bytes = readFileSync(path)
    // In place: the served file is a link to the same bytes.
    writeFileSync(
      path,
      Buffer.concat([Buffer.alloc(bytes.length - 600, 'x'), bytes.subarray(-600)]),
    )
    const answer = await world.get('/v1/whole?id=gte.5000&limit=1000', token)
    isError(t, answer, 'service_unavailable')
    t.equal((await world.get('/v1/good?limit=1', token)).status, 200)
    const account = await world.get('/v1/account', token)
    t.match(account.body['datasets'], [{ rows: { used: 1 } }, { rows: { used: 1 } }])
    const id = String(answer.headers['x-request-id'])
    const lines = world.log.filter((line) => line.includes(id))
    t.equal(lines.length, 2, 'the log has the cause and the request, under one id')
  })
})
