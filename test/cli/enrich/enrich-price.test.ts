import { existsSync } from 'node:fs'
import t from 'tap'
import { inns, startLists } from './fixtures/lists.js'

const lists = await startLists(t)
const { enrich, write, charged } = lists

interface Price {
  readonly requests: { readonly min: number; readonly max: number | null }
  readonly [name: string]: unknown
}

async function priceOf(token: string, ...argv: readonly string[]): Promise<Price> {
  const { code, stdout, stderr } = await enrich([...argv, '--dry-run', '--json'], { token })
  t.same({ code, stderr }, { code: 0, stderr: '' })
  return JSON.parse(stdout) as Price
}

await t.test('a dry run says what a list can cost, and costs nothing', async (t) => {
  const [pro, two, tiny] = await Promise.all(
    ['firms:pro', 'firms:two', 'firms:tiny'].map((grant) => lists.token(grant)),
  )
  write('list.csv', `inn,x\n${inns.join(',1\n')},1\n${inns[0]},1\n,1\n12,1\n7707083893,1\n`)
  const facts = { lines: 44, keys: 41, malformed: 2, zeros_lost: 0, rows_exact: null, notes: [] }
  const columns = ['year', 'name', 'revenue', 'note', '_status']
  t.same(await priceOf(pro ?? '', 'list.csv'), {
    ...{ ...facts, columns, requests: { min: 1, max: 3 }, rows_max: 41, rows_left: 1000 },
  })
  t.match(await priceOf(two ?? '', 'list.csv'), { requests: { min: 1, max: 2 }, rows_max: 41 })
  t.match(await priceOf(two ?? '', 'list.csv', '--match', 'all'), {
    ...{ requests: { min: 1, max: null }, rows_max: 82 },
  })
  t.match(await priceOf(pro ?? '', 'list.csv', '--match', 'wide', '--where', 'year=gte.2023'), {
    ...{ columns: [], rows_max: 82 },
  })
  const { stdout } = await enrich(['list.csv', '--dry-run'], { token: tiny ?? '' })
  t.match(stdout, /keys: 41 different, 2 malformed \(line 43: "" and line 44: "12"\)/)
  t.match(stdout, /at most 41\nrows left: 10, which may not be enough/)
  t.equal(await charged(), 0)
  t.notOk(existsSync(lists.path('list.csv.part')))
})

await t.test('the exact price costs a row, and is what the list then costs', async (t) => {
  for (const [match, rows] of [
    ['newest', 40],
    ['all', 81],
    ['wide', 81],
  ] as const) {
    const token = await lists.token('firms:pro')
    const before = await charged()
    const price = await priceOf(token, 'list.csv', '--match', match, '--exact')
    t.match(price, { rows_exact: rows }, match)
    t.equal((await charged()) - before, 1)
    t.equal((await enrich(['list.csv', '-o', `${match}.csv`, '--match', match], { token })).code, 0)
    t.equal((await charged()) - before, rows + 1)
  }
})

await t.test('where several rows have a key, only a count knows the price', async (t) => {
  const token = await lists.token('deals:pro')
  write('deals.csv', `buyer\n${inns[0]}\n`)
  const argv = ['deals.csv', '--dataset', 'deals', '--key', 'buyer', '--match', 'all']
  t.match(await priceOf(token, ...argv), { rows_max: null, requests: { min: 1, max: null } })
  t.match(await priceOf(token, ...argv, '--exact'), { rows_exact: 100 })
})
