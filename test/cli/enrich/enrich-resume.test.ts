import { existsSync, readFileSync, truncateSync, statSync } from 'node:fs'
import t from 'tap'
import { inns, startLists } from './fixtures/lists.js'

const ids = Array.from({ length: 2500 }, (_, at) => String(9007199254740993n - 1000n + BigInt(at)))
const ofIds = ['--dataset', 'ids', '--key', 'id', '--select', 'name']
const idsOut = `id,name,_status\n${ids.map((id, at) => `${id},n${at - 1000},found\n`).join('')}`
const lists = await startLists(t)

/** Counts the rows that are charged from now on. */
async function chargedFrom() {
  const before = await lists.charged()
  lists.way = () => 'pass'
  return async () => (await lists.charged()) - before
}

const isQuery = (path: string) => path.endsWith('/query')

await t.test('a lost answer is paid twice at most, and nothing else is', async (t) => {
  for (const match of ['newest', 'all'] as const) {
    const charged = await chargedFrom()
    const token = await lists.token('ids:pro')
    lists.write('ids.csv', `id\n${ids.join('\n')}\n`)
    const argv = ['ids.csv', '-o', 'out.csv', ...ofIds, '--match', match, '--replace']
    let queries = 0
    lists.way = (path) => (isQuery(path) && (queries += 1) === 2 ? 'lose' : 'pass')
    const broken = await lists.enrich(argv, { token })
    t.equal(broken.code, 1)
    t.match(broken.stderr, /No answer from .*run the same command again/)
    t.equal(await charged(), 2000)
    const whole = await lists.enrich(argv, { token })
    t.same({ code: whole.code, stderr: whole.stderr }, { code: 0, stderr: '' })
    t.equal(String(lists.read('out.csv')), idsOut)
    t.equal(await charged(), 3500)
    t.notOk(existsSync(lists.path('out.csv.part')))
    t.equal(queries, 4)
  }
})

await t.test('a break within any byte of the kept answers loses one answer', async (t) => {
  const token = await lists.token('ids:pro')
  lists.write('ids.csv', `id\n${ids.join('\n')}\n`)
  const argv = ['ids.csv', '-o', 'out.csv', ...ofIds, '--replace']
  for (const cut of [1, 20, 200, 20_000]) {
    const stop = new AbortController()
    let queries = 0
    lists.way = (path) => {
      if (isQuery(path) && (queries += 1) === 3) stop.abort(new Error('Stopped by SIGINT.'))
      return 'pass'
    }
    const stopped = await lists.enrich(argv, { token, signal: stop.signal })
    t.equal(stopped.code, 1)
    t.match(stopped.stderr, /Stopped by SIGINT\. What was paid is in /)
    const part = lists.path('out.csv.part')
    truncateSync(part, statSync(part).size - cut)
    const before = lists.asked.length
    lists.way = () => 'pass'
    t.equal((await lists.enrich(argv, { token })).code, 0)
    t.equal(lists.asked.slice(before).filter(isQuery).length, 2, `${cut}`)
    t.equal(String(lists.read('out.csv')), idsOut)
  }
})

await t.test(
  'an ended quota stops with code 1, and the list goes on with a larger one',
  async (t) => {
    for (const [match, rows] of [
      ['newest', 40],
      ['all', 81],
      ['wide', 81],
    ] as const) {
      const charged = await chargedFrom()
      const [token, more] = [await lists.token('firms:tiny'), await lists.token('firms:pro')]
      lists.write('list.csv', `inn\n${inns.join('\n')}\n`)
      const argv = ['list.csv', '-o', 'out.csv', '--match', match, '--select', 'name', '--replace']
      for (let again = 0; again < 2; again += 1) {
        const ended = await lists.enrich(argv, { token })
        t.equal(ended.code, 1)
        t.match(
          ended.stderr,
          /used.*run the same command again to go on from there, when rows are left/,
        )
        t.equal(await charged(), 10)
      }
      const whole = await lists.enrich(argv, { token: more })
      t.same({ code: whole.code, stderr: whole.stderr }, { code: 0, stderr: '' }, match)
      // A cursor belongs to its subscription: of all and wide, the request begins anew.
      t.equal(await charged(), match === 'newest' ? rows : rows + 10, match)
      await lists.enrich([
        'list.csv',
        '-o',
        'once.csv',
        '--replace',
        '--match',
        match,
        '--select',
        'name',
      ])
      t.equal(String(lists.read('out.csv')), String(lists.read('once.csv')), match)
    }
  },
)

await t.test('answers to another question, or of another list, are not taken', async (t) => {
  const charged = await chargedFrom()
  const token = await lists.token('firms:tiny')
  lists.write('list.csv', `inn,x\n${inns.join(',1\n')},1\n`)
  const argv = ['list.csv', '-o', 'other.csv', '--select', 'name']
  t.equal((await lists.enrich(argv, { token })).code, 1)
  const before = readFileSync(lists.path('other.csv.part'))
  const other = await lists.enrich(['list.csv', '-o', 'other.csv', '--select', 'year'], { token })
  t.equal(other.code, 1)
  t.match(other.stderr, /another list or another question/)
  lists.write('shorter.csv', `inn\n${inns.slice(1).join('\n')}\n`)
  t.equal((await lists.enrich(['shorter.csv', ...argv.slice(1)], { token })).code, 1)
  t.same(readFileSync(lists.path('other.csv.part')), before)
  // Other columns of the list may have changed.
  lists.write('list.csv', `y,inn\n${inns.map((inn) => `2,${inn}\n`).join('')}`)
  const whole = await lists.enrich(argv, { token: await lists.token('firms:pro') })
  t.same({ code: whole.code, charged: await charged() }, { code: 0, charged: inns.length })
})

await t.test('a busy server and a full rate are waited for; other errors end it', async (t) => {
  const charged = await chargedFrom()
  lists.write('list.csv', `inn\n${inns[0]}\n`)
  const refusals = [
    { status: 503, headers: { 'retry-after': '7' }, error: 'service_unavailable' },
    { status: 429, headers: { 'retry-after': '9' }, error: 'rate_limit_exceeded' },
    { status: 503, error: 'service_unavailable' },
  ]
  const start = lists.world.clock.monotonicMs()
  lists.way = (path) => (isQuery(path) && refusals.shift()) || 'pass'
  t.equal((await lists.enrich(['list.csv', '-o', 'waited.csv'])).code, 0)
  t.ok(lists.world.clock.monotonicMs() - start >= 17_000)
  t.equal(await charged(), 1)
  for (const [way, message] of [
    [{ status: 504, error: 'timeout' }, /Later\./],
    [{ status: 302, headers: { location: 'http://192.0.2.1/' }, error: '' }, /--server/],
    [{ status: 200, error: '' }, /no rows/],
  ] as const) {
    lists.way = (path) => (isQuery(path) ? way : 'pass')
    const { code, stderr } = await lists.enrich(['list.csv', '-o', 'new.csv'])
    t.equal(code, 1)
    t.match(stderr, message)
    t.notOk(existsSync(lists.path('new.csv')))
  }
})

await t.test('a list of more requests than the rate allows takes its minutes', async (t) => {
  const charged = await chargedFrom()
  const token = await lists.token('firms:slow')
  lists.write('list.csv', `inn\n${inns.join('\n')}\n`)
  for (const out of ['a.csv', 'b.csv', 'c.csv']) {
    t.equal((await lists.enrich(['list.csv', '-o', out], { token })).code, 0)
  }
  t.equal(await charged(), 3 * inns.length)
})
