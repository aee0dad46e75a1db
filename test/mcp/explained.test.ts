import t from 'tap'
import type { Test } from 'tap'
import { openControl, usageOf } from '../support/control.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import type { ToolAnswer } from '../support/mcp/mcp-messages.js'
import { filesOnly } from '../support/tables.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

/**
 * Guarantee: no cell is told for free. An explanation that looks at rows under the caller's other
 * filters costs one row, like a row; every other part of an answer without rows depends on none.
 */

const revenues = [17_179_869_183, 4_294_967_296, 12_345_678_901, 1, 34_359_738_367]
const revenueBits = 35

const rows = revenues.map((revenue, index) => `('inn${index}', 2024, ${revenue}::BIGINT)`).join()

const registry = `
demo: {token: das_demo_firms, rate_per_minute: 100000}
datasets:
  firms:
    title: Firms
    files: data/firms.parquet
    key: [inn, year]
    history: year
    demo: {inn: [inn0]}
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 100000}
      three: {rows_per_month: 3, history: all, price_rub: 0, rate_per_minute: 100000}
      one: {rows_per_month: 1, history: all, price_rub: 0, rate_per_minute: 100000}
`

const startFirms = (t: Test): Promise<World> =>
  startWorld(t, {
    files: { 'data/firms.parquet': `SELECT * FROM (VALUES ${rows}) t(inn, year, revenue)` },
    registry,
  })

/** An empty answer by contradiction; its explanation tells whether the revenue reaches `least`. */
function probe(
  world: World,
  token: string,
  inn: string,
  least: number,
  more: object = {},
): Promise<ToolAnswer> {
  return callTool(world, token, 'query', {
    resource: 'firms',
    filters: [
      { column: 'inn', op: 'eq', value: inn },
      { column: 'revenue', op: 'gte', value: least },
      { column: 'revenue', op: 'lt', value: 0 },
    ],
    ...more,
  })
}

const isReached = ({ content }: ToolAnswer) =>
  String(content['hint']).includes('without it there are rows')

/** Asks for every bit of these firms' revenues; what the hints say of them, and every answer. */
async function guessRevenues(world: World, token: string, firms: number, more: object = {}) {
  const answers: ToolAnswer[] = []
  const guessed: number[] = []
  for (let index = 0; index < firms; index++) {
    let known = 0
    for (let bit = revenueBits - 1; bit >= 0; bit--) {
      const answer = await probe(world, token, `inn${index}`, known + 2 ** bit, more)
      answers.push(answer)
      if (isReached(answer)) known += 2 ** bit
    }
    guessed.push(known)
  }
  return { answers, guessed }
}

await t.test(
  'two revenues read by explanations cost a row for each of 70 calls',
  filesOnly('explains'),
  async (t) => {
    const world = await startFirms(t)
    const control = openControl(t, world)
    const { token, subscriptionId } = await world.subscribe(['firms:pro'])
    const { answers, guessed } = await guessRevenues(world, token, 2)
    t.same(guessed, revenues.slice(0, 2), 'which is what they tell')
    t.equal(answers.length, 70)
    t.equal((await usageOf(control, world, subscriptionId)).total, 70)
    t.same(
      answers.map(({ content }) => content['quota']),
      answers.map((_, index) => ({ rows_remaining: 999 - index, scope: 'resource' })),
    )
    t.ok(
      answers.every(({ content }) => content['row_count'] === 0 && content['explained'] === true),
    )
  },
)

await t.test('a declined explanation is free and not given', async (t) => {
  const world = await startFirms(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['firms:pro'])
  const { answers, guessed } = await guessRevenues(world, token, 1, { explain: false })
  t.same(guessed, [0])
  t.equal(new Set(answers.map(({ text }) => text)).size, 1, 'not one bit')
  t.notOk(answers.some(({ content }) => 'explained' in content))
  t.equal((await usageOf(control, world, subscriptionId)).total, 0)
  const wrong = await probe(world, token, 'inn1', 1, { explain: 'no' })
  t.match(wrong, { isError: true, text: /^bad_request: explain: must be true, or false/ })
})

await t.test('with three rows left three calls are explained, and the fourth is not', async (t) => {
  const world = await startFirms(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['firms:three'])
  for (const left of [2, 1, 0]) {
    const { content } = await probe(world, token, 'inn1', 1)
    t.match(content, { row_count: 0, explained: true, quota: { rows_remaining: left } })
    t.match(content['hint'], /^The filter revenue lt "0" leaves no row; without it there are rows/)
  }
  const fourth = await probe(world, token, 'inn1', 1)
  t.match(fourth, { isError: true, text: /^row_quota_exceeded: / }, 'like every query now')
  t.notMatch(fourth.text, /leaves no row|there are rows/)
  t.equal((await usageOf(control, world, subscriptionId)).total, 3)
})

await t.test(
  'of calls that race for the last row one is explained, the rest are empty',
  filesOnly('explains'),
  async (t) => {
    const world = await startFirms(t)
    const control = openControl(t, world)
    const { token, subscriptionId } = await world.subscribe(['firms:one'])
    const answers = await Promise.all([1, 2, 3, 4].map(() => probe(world, token, 'inn1', 1)))
    const explained = answers.filter(({ content }) => content['explained'] === true)
    t.equal(explained.length, 1)
    t.equal(answers.filter(isReached).length, 1)
    for (const answer of answers) {
      if (answer.isError) t.match(answer.text, /^row_quota_exceeded: /)
      else t.match(answer.content, { row_count: 0, quota: { rows_remaining: 0 } })
    }
    t.equal((await usageOf(control, world, subscriptionId)).total, 1)
  },
)

await t.test('what depends on no other filter is free', async (t) => {
  const world = await startFirms(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['firms:pro'])
  const free = async (filters: readonly object[], more: object = {}) => {
    const { content } = await callTool(world, token, 'query', {
      resource: 'firms',
      filters,
      ...more,
    })
    t.match(content, { row_count: 0, quota: { rows_remaining: 1000 } })
    t.notOk('explained' in content)
    return content['hint']
  }
  const year = { column: 'year', op: 'eq', value: 2030 }
  const revenue = { column: 'revenue', op: 'lt', value: 0 }
  const alone = 'The filter year eq "2030" leaves no row; without it there are rows. '
  t.equal(await free([year]), `${alone}Values of year near it: 2024.`)
  t.equal(await free([year], { explain: false }), `${alone}Values of year near it: 2024.`)
  const both = await free([year, revenue], { explain: false })
  t.equal(both, 'Values of year near "2030": 2024.', 'the whole window, not the other filter')
  t.equal(await free([revenue, revenue], { explain: false }), undefined)
  const nine = Array.from({ length: 9 }, () => revenue)
  t.equal(await free(nine), undefined, 'too many to look at')
  t.equal((await usageOf(control, world, subscriptionId)).total, 0)
})

await t.test('an explanation is free when rows are not counted', async (t) => {
  const world = await startFirms(t)
  const { content } = await probe(world, 'das_demo_firms', 'inn0', 1)
  t.match(content, { row_count: 0, explained: true, quota: null })
})
