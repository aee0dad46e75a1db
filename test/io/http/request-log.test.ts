import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listen, requestText, sendOne } from '../../support/answers.js'
import { demoToken, startThings } from '../../support/things.js'
import type { World } from '../../support/world.js'

type Line = Readonly<Record<string, unknown>>

/** The lines of the requests so far, once there are so many. */
async function linesOf({ log }: World, count: number): Promise<readonly Line[]> {
  const texts = () => log.filter((line) => line.includes('"msg":"request"'))
  while (texts().length < count) await sleep(5)
  return texts().map((line) => JSON.parse(line) as Line)
}

await t.test('try', async (t) => {
  const world = await startThings(t)
  const { token } = world.subscribe(['things:tiny'])
  const port = await listen(world)
  const base = `http://127.0.0.1:${port}`
  const get = (path: string, bearer?: string) =>
    fetch(base + path, { headers: bearer ? { authorization: `Bearer ${bearer}` } : {} })
  const call = (name: string, args: object, method = 'tools/call') =>
    fetch(`${base}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name, arguments: args } }),
    })
  const all = [
    () => get('/v1/things?limit=2', token),
    () => get('/v1/things?limit=2', demoToken),
    () => get('/v1/things?limit=2'),
    () => get('/v1/nothing', token),
    () => get('/v1/things/aggregate?measures=count', token),
    () => call('query', { resource: 'things', limit: 2 }),
    () => call('query', { resource: 'nothing' }),
    () => call('describe_resource', { resource: 'things' }),
    () => call('none', {}),
    () => call('none', {}, 'tools/list'),
    () => call('none', {}, 'what'),
    () => get('/v1/things/export', token),
    () => get('/'),
    () => get('/nowhere'),
    () => get('/healthz'),
  ]
  for (const each of all) {
    const answer = await each()
    await answer.text()
    console.log(answer.status, answer.headers.get('server-timing'))
  }
  await sendOne(port, 'nonsense\r\n\r\n')
  for (const line of await linesOf(world, all.length + 1)) console.log(JSON.stringify(line))
  t.end()
})
