import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { column, holdsNoSecret } from '../support/answers.js'
import { openControl, usageOf } from '../support/control.js'
import { tablesOf } from '../support/database.js'
import { payloads, sqlText } from '../support/payloads.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'

/** A world whose rows are the payloads themselves, so that each has exactly one right answer. */
function startPayloads(t: Test): Promise<World> {
  const rows = payloads.map((text, id) => `(${id}, ${sqlText(text)}, ${id} % 7)`).join()
  return startWorld(t, {
    storedOrder: { texts: ['id'] },
    files: { 'data/a.parquet': `SELECT * FROM (VALUES ${rows}) v(id, text, "2110")` },
    registry: `
datasets:
  texts:
    title: Texts
    files: data/a.parquet
    key: text
    limit: {default: 1000}
    plans: {pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 1000000}}
`,
  })
}

/** Without what it quotes of the request, an answer holds no word of the machine. */
function isClean(t: Test, answer: Answer, name: string, sent = ''): void {
  if (![200, 400].includes(answer.status)) t.fail(`${name}: ${answer.status} ${answer.text}`)
  if (answer.status === 200) return
  if (Object.keys(answer.body).join() !== 'error,detail') t.fail(`${name}: ${answer.text}`)
  const own = answer.body.detail.replaceAll(sent, '').replace(/"(?:[^"\\]|\\.)*"/g, '""')
  holdsNoSecret(t, own, name)
}

/** Every file of a folder with its hash. */
function fingerprint(folder: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name)
    hash.update(name)
    if (statSync(path).isFile()) hash.update(readFileSync(path))
  }
  return hash.digest('hex')
}

// Guarantee: a request's text is data, never SQL, anywhere in the request.
await t.test('a payload as a value finds the row that holds it, and no other', async (t) => {
  const world = await startPayloads(t)
  const { token } = await world.subscribe(['texts:pro'])
  const post = (op: string, value: unknown) =>
    world.post('/v1/texts/query', token, {
      filters: [{ column: 'text', op, value }],
      select: ['id'],
    })
  for (const [id, text] of payloads.entries()) {
    const same = payloads.flatMap((each, index) => (each === text ? [index] : []))
    const begins = payloads.flatMap((each, index) => (each.startsWith(text) ? [index] : []))
    const encoded = encodeURIComponent(text)
    const quoted = encodeURIComponent(`"${text.replace(/["\\]/g, '\\$&')}"`)
    // The word null is asked for by its own operators; in finds it as a text.
    const isNull = /^null$/i.test(text)
    const byUrl = (filter: string) => world.get(`/v1/texts?text=${filter}&select=id`, token)
    const answers = await Promise.all([
      byUrl(isNull ? `in.${encoded}` : `eq.${encoded}`),
      byUrl(`in.${quoted},nothing`),
      isNull ? post('in', [text]) : post('eq', text),
      post('like', text.includes('*') ? '' : `${text}*`),
    ])
    const expected = [same, same, same, text.includes('*') ? [] : begins]
    t.same(
      answers.map((answer) => column(answer, 'id')),
      expected,
      `${id}: ${text}`,
    )
    for (const filter of [`in.${encoded}`, `like.${encoded}`]) {
      isClean(t, await byUrl(filter), `${filter}`)
    }
  }
})

await t.test(
  'a payload as a column, operator, number, select, limit or cursor is 400',
  async (t) => {
    const world = await startPayloads(t)
    const { token } = await world.subscribe(['texts:pro'])
    for (const text of payloads) {
      const encoded = encodeURIComponent(text)
      const answers: Readonly<Record<string, Promise<Answer>>> = {
        column: world.get(`/v1/texts?${encoded}=eq.1`, token),
        'column in POST': world.post('/v1/texts/query', token, {
          filters: [{ column: text, op: 'eq', value: '1' }],
        }),
        operator: world.get(`/v1/texts?text=x${encoded}.1`, token),
        'operator in POST': world.post('/v1/texts/query', token, {
          filters: [{ column: 'text', op: `${text} `, value: '1' }],
        }),
        select: world.get(`/v1/texts?select=id,${encoded}`, token),
        'select in POST': world.post('/v1/texts/query', token, { select: ['id', text] }),
        limit: world.get(`/v1/texts?limit=${encoded}`, token),
        'limit in POST': world.post('/v1/texts/query', token, { limit: text }),
        cursor: world.get(`/v1/texts?cursor=${encoded}`, token),
        'cursor in POST': world.post('/v1/texts/query', token, { cursor: text }),
        body: world.post('/v1/texts/query', token, text),
        'key in POST': world.post('/v1/texts/query', token, { [text]: 1 }),
        'filter key in POST': world.post('/v1/texts/query', token, {
          filters: [{ column: 'id', op: 'eq', value: 1, [text]: 1 }],
        }),
      }
      for (const [place, asked] of Object.entries(answers)) {
        const answer = await asked
        isClean(t, answer, `${place}: ${text}`, text)
        if (answer.status !== 400) t.fail(`${place}: ${text}: ${answer.status}`)
      }
      const number = await world.get(`/v1/texts?2110=eq.${encoded}`, token)
      isClean(t, number, `number: ${text}`)
      t.equal(number.status, ['-0', '1e309'].includes(text) ? 200 : 400, text)
      const format = await world.get(`/v1/texts?format=${encoded}`, token)
      t.equal(format.status, 406, text)
      const dataset = await world.get(`/v1/${encoded}`, token)
      t.ok([400, 404].includes(dataset.status), `dataset ${text}: ${dataset.status}`)
      holdsNoSecret(t, dataset.text, text)
    }
  },
)

await t.test('a payload in a header has no effect', async (t) => {
  const world = await startPayloads(t)
  const { token } = await world.subscribe(['texts:pro'])
  const wrong: string[] = []
  for (const text of payloads.filter((each) => /^[\x20-\x7e]+$/.test(each))) {
    const expected = { accept: [200, 406], 'if-none-match': [200, 304], 'x-request-id': [200] }
    for (const [name, statuses] of Object.entries(expected)) {
      const answer = await world.get('/v1/texts?id=eq.1', token, { headers: { [name]: text } })
      const isHarmless = /^[A-Za-z0-9-]{1,64}$/.test(String(answer.headers['x-request-id']))
      if (!statuses.includes(answer.status) || !isHarmless) wrong.push(`${name}: ${text}`)
    }
    const bearer = await world.get('/v1/texts', undefined, { headers: { authorization: text } })
    if (![401, 429].includes(bearer.status)) wrong.push(`authorization: ${text}`)
  }
  t.same(wrong, [])
})

// Guarantee: nothing that a request says writes anything but its own charge.
await t.test(
  'after all of it the data, the folder and the accounts are as they were',
  async (t) => {
    const world = await startPayloads(t)
    const control = openControl(t, world)
    const { token, subscriptionId } = await world.subscribe(['texts:pro'])
    const before = await world.get('/v1/texts', token)
    const disk = () => ['data', 'var/versions'].map((name) => fingerprint(join(world.folder, name)))
    const [tables, onDisk] = [await tablesOf(control), disk()]
    let sent = before.body.data.length
    for (const text of payloads) {
      const encoded = encodeURIComponent(text)
      for (const query of [`text=eq.${encoded}`, `${encoded}=eq.1`, `select=${encoded}`]) {
        sent += (await world.get(`/v1/texts?${query}`, token)).body.data?.length ?? 0
      }
    }
    const after = await world.get('/v1/texts', token)
    t.equal(after.text, before.text)
    t.same(disk(), onDisk)
    t.same(await tablesOf(control), tables)
    t.equal((await usageOf(control, world, subscriptionId)).total, sent + after.body.data.length)
    const bad = world.log.filter((line) => line.includes('"level":50') || line.includes(token))
    t.same(bad, [], 'no error of ours, no token')
  },
)
