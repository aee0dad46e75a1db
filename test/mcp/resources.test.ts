import t from 'tap'
import { callModern, callRpc } from '../support/mcp/mcp-messages.js'
import { demoToken, startThings } from '../support/things.js'

interface Listed {
  readonly uri: string
  readonly name: string
}

await t.test('resources are the datasets of the token, each with its schema', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:two', 'days:two'])
  for (const call of [callRpc, callModern]) {
    const { result } = await call(world, token, 'resources/list')
    const listed = result?.['resources'] as readonly Listed[]
    t.match(listed, [
      { uri: 'dataset://things', name: 'things', title: 'Things', mimeType: 'application/json' },
      { uri: 'dataset://days', name: 'days', title: 'Days', mimeType: 'application/json' },
    ])
    t.equal(listed.length, 2)
    for (const { uri, name } of listed) {
      const read = await call(world, token, 'resources/read', { uri })
      const [content] = read.result?.['contents'] as readonly { uri: string; text: string }[]
      t.equal(content?.uri, uri)
      const schema = await world.get(`/v1/${name}/schema`, token)
      t.same(JSON.parse(content?.text ?? ''), schema.body, 'as the REST interface tells it')
      t.notMatch(read.text, /internal_note|2022/, 'nothing hidden, nothing outside the window')
    }
    const demo = await call(world, demoToken, 'resources/list')
    t.match(demo.result?.['resources'], [{ uri: 'dataset://things' }])
    t.notMatch(demo.text, /days|big/)
  }
  const templates = await callRpc(world, token, 'resources/templates/list')
  t.match(templates.result, { resourceTemplates: [{ uriTemplate: 'dataset://{name}' }] })
})
