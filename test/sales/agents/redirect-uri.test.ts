import t from 'tap'
import { redirectTarget } from '../../../src/control/connections/redirect-target.js'
import { matchesRedirect, withParameters } from '../../../src/sales/agents/redirect-uri.js'

await t.test('the receiver of the access is named by where its redirect leads', (t) => {
  const cases = [
    ['https://claude.ai/api/mcp/auth_callback', { kind: 'site', host: 'claude.ai' }],
    ['https://CLAUDE.ai:8443/x?y=1', { kind: 'site', host: 'claude.ai:8443' }],
    ['https://xn--80ak6aa92e.com/', { kind: 'site', host: 'xn--80ak6aa92e.com' }],
    ['http://localhost:7777/oauth/callback', { kind: 'computer' }],
    ['http://127.0.0.1/', { kind: 'computer' }],
    ['http://[::1]:1/callback', { kind: 'computer' }],
    ['https://localhost/callback', { kind: 'computer' }],
    ['cursor://anysphere.cursor-mcp/oauth/callback', { kind: 'app', scheme: 'cursor' }],
    ['claude://oauth', { kind: 'app', scheme: 'claude' }],
    ['vscode-insiders://a.b/c', { kind: 'app', scheme: 'vscode-insiders' }],
    ['com.example.app:/callback', { kind: 'app', scheme: 'com.example.app' }],
  ] as const
  for (const [uri, target] of cases) t.same(redirectTarget(uri), target, uri)
  t.end()
})

// Guarantee: no code is sent to an address that a browser runs, reads in its own way, opens without
// TLS, or gives to a program of the system.
await t.test('addresses that no client should have are refused', (t) => {
  const refused = [
    '',
    '/callback',
    'callback',
    'http://example.org/callback',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://127.0.0.2/',
    'http://0.0.0.0/',
    'https://user@example.org/',
    'https://user:secret@example.org/',
    'https://example.org/#fragment',
    'https://example.org/a b',
    'https://evil.example\\@example.org/',
    'https://example.org/\r\nSet-Cookie: a=b',
    'https://пример.example/',
    `https://example.org/${'a'.repeat(500)}`,
    ...['javascript:alert(1)', 'JavaScript:alert(1)', 'data:text/html,x', 'vbscript:x'],
    ...['file:///etc/passwd', 'blob:https://a/b', 'about:blank', 'ws://a/', 'wss://a/'],
    ...['view-source:https://a/', 'filesystem:https://a/', 'mailto:a@b.c', 'ftp://a/'],
    ...['search-ms:query=x', 'ms-msdt:/id', 'MS-Word:ofe|u|x', 'ssh://a/', 'tel:1', 'steam://run'],
    ...['intent://a#', 'chrome://settings', 'x-apple.systempreferences', 'itms-services://?a'],
    ...['https:a.example/cb', 'https:/a.example/cb', 'https:///a.example/cb', 'HTTPS:a.example'],
    ...['http:localhost/cb', 'http:///localhost/cb', 'https:\\a.example'],
  ]
  for (const uri of refused) t.equal(redirectTarget(uri), null, uri)
  t.end()
})

await t.test('only the port of this computer may differ from what was registered', (t) => {
  const fits = [
    ['http://localhost/callback', 'http://localhost:49152/callback'],
    ['http://localhost:8787/callback', 'http://localhost:8788/callback'],
    ['http://127.0.0.1:33418', 'http://127.0.0.1:33418/'],
    ['http://127.0.0.1:33418/', 'http://127.0.0.1/'],
    ['https://claude.ai/a', 'https://claude.ai/a'],
    ['cursor://a/b', 'cursor://a/b'],
  ] as const
  for (const [registered, named] of fits) t.ok(matchesRedirect(registered, named), named)
  const others = [
    ['http://localhost/callback', 'http://127.0.0.1/callback'],
    ['http://localhost/callback', 'http://localhost/other'],
    ['http://localhost/callback', 'http://localhost/callback?a=b'],
    ['https://localhost:1/callback', 'https://localhost:2/callback'],
    ['https://claude.ai/a', 'https://claude.ai:8443/a'],
    ['https://claude.ai/a', 'https://claude.ai/a/'],
    ['https://claude.ai/a', 'https://claude.ai/a?b'],
    ['https://claude.ai/a', 'https://CLAUDE.ai/a'],
    ['cursor://a/b', 'cursor://a:1/b'],
  ] as const
  for (const [registered, named] of others) t.notOk(matchesRedirect(registered, named), named)
  t.end()
})

await t.test('parameters are added to a query that a redirect has', (t) => {
  const parameters = { code: 'a b', state: null, iss: 'https://a.example' }
  const added = 'code=a+b&iss=https%3A%2F%2Fa.example'
  t.equal(withParameters('https://b.example/', parameters), `https://b.example/?${added}`)
  t.equal(withParameters('https://b.example/?c=d', parameters), `https://b.example/?c=d&${added}`)
  t.equal(withParameters('cursor://e/f', parameters), `cursor://e/f?${added}`)
  t.end()
})
