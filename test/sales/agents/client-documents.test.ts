import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { documentUrl, readClientDocument } from '../../../src/sales/agents/client-document.js'
import { ClientDocuments } from '../../../src/sales/agents/client-documents.js'
import { documentBytesMax, fetchDocument } from '../../../src/sales/agents/fetch-document.js'
import { isPublicAddress } from '../../../src/sales/special-addresses.js'
import { clientDocuments } from './fixtures/registrations.js'
import { machineClock } from '../../../src/clock.js'
import { MovingClock } from '../../support/moving-clock.js'

const folder = join('test', 'sales', 'letters', 'fixtures')
const ca = readFileSync(join(folder, 'certificate.pem'))

/** A site with a certificate of its own on this machine; the name leads there by `resolve`. */
async function startSite(t: Test, answer: RequestListener) {
  const paths: string[] = []
  const server = createServer(
    { cert: ca, key: readFileSync(join(folder, 'key.pem')) },
    (request, response) => {
      paths.push(request.url ?? '')
      answer(request, response)
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = new URL(`https://localhost:${port}/client.json`)
  return {
    url,
    paths,
    options: { ca, isAllowed: () => true, resolve: async () => ['127.0.0.1'] },
  }
}

const json = { 'content-type': 'application/json' }

await t.test('the documents of ChatGPT and Claude Code are read', (t) => {
  for (const document of Object.values(clientDocuments)) {
    const url = documentUrl(document.client_id)
    if (!url) throw new Error(document.client_id)
    t.same(readClientDocument(url, JSON.stringify(document)), {
      id: document.client_id,
      name: document.client_name,
      redirectUris: document.redirect_uris,
      host: url.host,
    })
  }
  t.end()
})

await t.test('a document with another client_id, or with a secret, is refused', (t) => {
  const { claudeCode } = clientDocuments
  const url = new URL(claudeCode.client_id)
  const refused = [
    'no json',
    '[]',
    JSON.stringify({ ...claudeCode, client_id: `${claudeCode.client_id}/` }),
    JSON.stringify({ ...claudeCode, client_id: undefined }),
    JSON.stringify({ ...claudeCode, client_secret: 's' }),
    JSON.stringify({ ...claudeCode, token_endpoint_auth_method: 'client_secret_post' }),
    JSON.stringify({ ...claudeCode, client_name: undefined }),
    JSON.stringify({ ...claudeCode, redirect_uris: ['javascript:x'] }),
  ]
  for (const text of refused) {
    t.throws(() => readClientDocument(url, text), { name: 'OAuthError' }, text.slice(0, 80))
  }
  t.end()
})

await t.test('an id is the address of a document only in its one plain form', (t) => {
  t.ok(documentUrl('https://a.example/client.json'))
  const refused = [
    'http://a.example/client',
    'https://a.example',
    'https://a.example/',
    'https://A.example/client',
    'https://a.example:443/client',
    'https://a.example/x/../client',
    'https://a.example/client#x',
    'https://a.example/client#',
    'https://user@a.example/client',
    'https://127.0.0.1/client',
    'https://2130706433/client',
    'https://[::1]/client',
    'https://localhost/client',
    `https://a.example/${'a'.repeat(500)}`,
    'dac_x.y',
  ]
  for (const id of refused) t.equal(documentUrl(id), null, id)
  t.end()
})

// Guarantee: a stranger's URL never leads into the networks of this machine.
await t.test('addresses of special use are not public, in every form', (t) => {
  const refused = [
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.31.255.255'],
    ...['192.0.0.1', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::8.8.8.8', '64:ff9b::7f00:1'],
    ...['64:ff9b:1::1', '100::1', 'fc00::1', 'fd12::1', 'fe80::1', 'fec0::1', 'ff02::1'],
    ...['2001::1', '2001:db8::1', '2002:7f00:1::1', '3fff::1', '5f00::1', 'localhost', ''],
  ]
  for (const address of refused) t.notOk(isPublicAddress(address), address)
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1']) {
    t.ok(isPublicAddress(address), address)
  }
  t.end()
})

await t.test('one private address of a name is enough to refuse it', async (t) => {
  const { url, paths, options } = await startSite(t, (_request, response) => response.end('{}'))
  const { ca } = options
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], []]) {
    await t.rejects(fetchDocument(url, machineClock, { ca, resolve: async () => addresses }), {
      message: 'the host has an address that is not public',
    })
  }
  t.same(paths, [])
})

await t.test(
  'a document is JSON of status 200, small and quick; redirects are refused',
  async (t) => {
    const answers: Readonly<Record<string, RequestListener>> = {
      '/ok': (_request, response) => response.writeHead(200, json).end('{"a":1}'),
      '/redirect': (_request, response) => response.writeHead(302, { location: '/ok' }).end(),
      '/missing': (_request, response) => response.writeHead(404, json).end('{}'),
      '/html': (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('{}'),
      '/largest': (_request, response) =>
        response.writeHead(200, json).end(' '.repeat(documentBytesMax)),
      '/larger': (_request, response) =>
        response.writeHead(200, json).end(' '.repeat(documentBytesMax + 1)),
      '/slow': (_request, response) => response.writeHead(200, json).write('{'),
      '/latin': (_request, response) => response.writeHead(200, json).end(Buffer.from([0xff])),
    }
    const { url, paths, options } = await startSite(t, (request, response) => {
      answers[request.url ?? '']?.(request, response)
    })
    const clock = new MovingClock(0)
    const fetchPath = (path: string, more: object = {}) =>
      fetchDocument(new URL(path, url), clock, { ...options, ...more })
    t.equal(await fetchPath('/ok'), '{"a":1}')
    t.equal((await fetchPath('/largest')).length, documentBytesMax)
    await t.rejects(fetchPath('/redirect'), { message: /status is 302/ })
    await t.rejects(fetchPath('/missing'), { message: /status is 404/ })
    await t.rejects(fetchPath('/html'), { message: /not JSON/ })
    await t.rejects(fetchPath('/larger'), { message: /over 5 KB/ })
    await t.rejects(fetchPath('/latin'))
    const silent = { resolve: () => new Promise(() => undefined) }
    await t.rejects(clock.advanceUntil(fetchPath('/slow')))
    await t.rejects(clock.advanceUntil(fetchPath('/ok', silent)))
    await t.rejects(fetchPath('/ok', { ca: '' }), 'a certificate that nobody knows')
    t.equal(paths.filter((path) => path === '/ok').length, 1, 'a redirect is not followed')
  },
)

await t.test(
  'documents are kept, failures are not, and a network fetches at most four at a time',
  async (t) => {
    let body = ''
    let isSlow = false
    const { url, paths, options } = await startSite(t, (request, response) => {
      if (isSlow) return
      const id = new URL(request.url ?? '', url).href
      response.writeHead(body === '' ? 500 : 200, json).end(
        JSON.stringify({
          client_id: id,
          client_name: body,
          redirect_uris: ['https://a.example/'],
        }),
      )
    })
    const clock = new MovingClock(0)
    const visitor = '2001:db8::1'
    const reported: unknown[] = []
    const documents = new ClientDocuments({
      clock,
      fetch: options,
      report: (cause) => reported.push(cause),
    })
    await t.rejects(documents.find(url, visitor), { code: 'temporarily_unavailable' })
    t.equal(reported.length, 1)
    body = 'first'
    t.match(await documents.find(url, visitor), { name: 'first' })
    body = 'second'
    t.match(await documents.find(url, visitor), { name: 'first' })
    await clock.advance(5 * 60_000)
    t.match(await documents.find(url, visitor), { name: 'second' })
    body = ''
    await clock.advance(5 * 60_000)
    t.match(
      await documents.find(url, visitor),
      { name: 'second' },
      'a site that is down does not lock out',
    )
    await clock.advance(24 * 3_600_000)
    await t.rejects(documents.find(url, visitor), { code: 'temporarily_unavailable' })
    isSlow = true
    paths.length = 0
    const waiting = [1, 2, 3, 4].map((n) => documents.find(new URL(`/${n}`, url), visitor))
    await t.rejects(documents.find(new URL('/5', url), '2001:db8::2'), {
      code: 'temporarily_unavailable',
    })
    waiting.push(documents.find(new URL('/6', url), '2001:db8:0:1::1'))
    await clock.advanceUntil(Promise.allSettled(waiting))
    t.notOk(paths.includes('/5'), 'of the network that has four')
    t.ok(paths.includes('/6'), 'of another network')
  },
)
