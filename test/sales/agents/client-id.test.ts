import { randomBytes } from 'node:crypto'
import t from 'tap'
import { openClientId, sealClientId } from '../../../src/sales/agents/client-id.js'
import { shownName } from '../../../src/sales/agents/client.js'
import { registerClient } from '../../../src/sales/agents/registration.js'
import { registrations } from './fixtures/registrations.js'

const key = randomBytes(32)
const now = 1_800_000_000_000

await t.test('every known client registers, and its id is its registration', (t) => {
  for (const { client, body } of registrations) {
    const answer = registerClient(key, body, now) as Readonly<Record<string, unknown>>
    t.match(
      answer,
      {
        client_id: /^dac_[\w.-]+$/,
        client_id_issued_at: now / 1000,
        redirect_uris: body['redirect_uris'],
        token_endpoint_auth_method: 'none',
      },
      client,
    )
    const id = String(answer['client_id'])
    t.ok(id.length < 700, `${client}: ${id.length} characters`)
    t.match(openClientId(key, id), { id, redirectUris: body['redirect_uris'] }, client)
    t.notOk(Object.values(answer).some((value) => value === null || value === undefined))
  }
  t.end()
})

// Guarantee: only this server makes ids of clients.
await t.test('a forged, changed or foreign id is unknown', (t) => {
  const id = sealClientId(key, { name: 'a', redirectUris: ['https://a.example/'] })
  t.ok(openClientId(key, id))
  const [content = '', signed = ''] = id.slice('dac_'.length).split('.')
  const evil = Buffer.from('{"n":"a","r":["https://evil.example/"]}').toString('base64url')
  for (const wrong of [
    `dac_${evil}.${signed}`,
    `dac_${content}.${signed.slice(1)}A`,
    `dac_${content}.`,
    `dac_${content}`,
    content,
    '',
    `${id} `,
  ]) {
    t.equal(openClientId(key, wrong), undefined, wrong)
  }
  t.equal(openClientId(randomBytes(32), id), undefined)
  t.end()
})

await t.test('a registration without a redirect URI is refused', (t) => {
  const refused = [
    [undefined, 'invalid_redirect_uri'],
    [[], 'invalid_redirect_uri'],
    ['text', 'invalid_redirect_uri'],
    [{}, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: 'https://a.example/' }, 'invalid_redirect_uri'],
    [{ redirect_uris: [1] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['javascript:x'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: Array(11).fill('https://a.example/') }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://a.example/'], client_name: 1 }, 'invalid_client_metadata'],
    [
      {
        redirect_uris: Array.from(
          { length: 8 },
          (_, i) => `https://a.example/${i}${'a'.repeat(300)}`,
        ),
      },
      'invalid_client_metadata',
    ],
  ] as const
  for (const [body, code] of refused) {
    t.throws(() => registerClient(key, body, now), { code }, JSON.stringify(body))
  }
  t.end()
})

// Guarantee: a name can't pretend to be another by characters that are not seen, or by its length.
await t.test('a name is shown without control and direction characters, and cut', (t) => {
  t.equal(shownName(' Claude\u202e\u0000\u200b  Code\n'), 'Claude Code')
  t.equal(shownName('\u202e\u200b'), '')
  t.equal([...shownName('я'.repeat(100))].length, 60)
  t.match(shownName('a'.repeat(5000)), /^a{59}…$/)
  t.end()
})
