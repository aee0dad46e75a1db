import t from 'tap'
import { isError } from '../support/answers.js'
import { demoToken, startThings } from '../support/things.js'
import type { Answer } from '../support/world.js'

/** All that a client sees, but the id and the date of the answer and the count of requests left. */
function visible({ status, headers, text }: Answer): unknown {
  const left = Number(headers['x-ratelimit-remaining'])
  const { 'x-request-id': id, date, 'x-ratelimit-remaining': remaining, ...rest } = headers
  const has = { id: typeof id, date: typeof date, remaining: typeof remaining, isLeft: left >= 0 }
  return { status, headers: { ...rest, 'x-ratelimit-reset': '', has }, text }
}

// Guarantee: a caller can't tell a dataset without a grant from one that does not exist.
await t.test(
  'unknown and ungranted are one 404, byte for byte and header for header',
  async (t) => {
    const world = await startThings(t)
    const one = (await world.subscribe(['things:pro'])).token
    const capped = (await world.subscribe(['things:pro'], { globalRows: 5 })).token
    for (const [caller, token] of Object.entries({ one, capped, demo: demoToken })) {
      const paths = (name: string) => [
        `/v1/${name}`,
        `/v1/${name}?id=eq.1`,
        `/v1/${name}?nonsense`,
        `/v1/${name}?cursor=AAAA`,
        `/v1/${name}?format=xml`,
        `/v1/${name}/schema`,
      ]
      const others = [
        'nothing',
        'dayz',
        'constructor',
        '__proto__',
        'DAYS',
        'days.parquet',
        'account.',
      ]
      const hidden = await Promise.all(paths('days').map((url) => world.get(url, token)))
      for (const answer of hidden) {
        isError(t, answer, 'not_found', /no dataset of this name for this token/)
      }
      for (const name of others) {
        const unknown = await Promise.all(paths(name).map((url) => world.get(url, token)))
        t.same(unknown.map(visible), hidden.map(visible), `${caller}: ${name}`)
      }
      const tag = { headers: { 'if-none-match': '*' } }
      t.same(
        visible(await world.get('/v1/nothing', token, tag)),
        visible(await world.get('/v1/days', token, tag)),
      )
      t.same(
        visible(await world.get('/v1/nothing', token, { method: 'HEAD' })),
        visible(await world.get('/v1/days', token, { method: 'HEAD' })),
      )
      for (const body of [{}, { filters: 'no' }, '{"broken']) {
        t.same(
          visible(await world.post('/v1/nothing/query', token, body)),
          visible(await world.post('/v1/days/query', token, body)),
          `${caller}: POST ${JSON.stringify(body)}`,
        )
      }
    }
  },
)

await t.test('what is not granted appears in no list, schema or hint', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const each of [token, demoToken]) {
    for (const url of ['/v1/', '/v1/account', '/v1/things/schema', '/v1/things?day=eq.1']) {
      const { text } = await world.get(url, each)
      t.match(text, /things/, url)
      t.notMatch(text, /days|Days|"big"|Big|"day"|half/, url)
    }
  }
})
