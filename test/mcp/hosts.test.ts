import t from 'tap'
import { allowedHosts, requireAllowed } from '../../src/mcp/hosts.js'

// Guarantee: a web page can't reach this server by way of a browser on the same machine.

const allowed = allowedHosts(['Data.Example.org', '[2001:db8::1]'])

await t.test('the names of this machine and those given are served, on any port', (t) => {
  const hosts = [
    'localhost',
    'localhost:8080',
    'LOCALHOST:1',
    '127.0.0.1',
    '127.0.0.1:65535',
    '[::1]',
    '[::1]:8080',
    'data.example.org',
    'DATA.example.ORG:443',
    '[2001:db8::1]:8080',
  ]
  for (const host of hosts) {
    t.doesNotThrow(() => requireAllowed({ host }, allowed), host)
    t.doesNotThrow(() => requireAllowed({ host, origin: `http://${host}` }, allowed), host)
    t.doesNotThrow(() => requireAllowed({ host, origin: `https://${host}` }, allowed), host)
  }
  t.end()
})

await t.test('a missing or any other host name is refused', (t) => {
  const hosts = [
    undefined,
    '',
    'example.org',
    'evil.example',
    'localhost.evil.example',
    'evil.localhost',
    'xlocalhost',
    'data.example.org.evil.example',
    'sub.data.example.org',
    '127.0.0.2',
    '0.0.0.0',
    '[::2]',
    'localhost evil',
    'evil.example/localhost',
    'evil.example#localhost',
    'evil.example?localhost',
    'localhost:99999',
  ]
  for (const host of hosts) {
    t.throws(() => requireAllowed({ host }, allowed), { code: 'forbidden' }, String(host))
  }
  t.end()
})

await t.test(
  'an origin must have one of the same names; requests without an origin are served',
  (t) => {
    const host = 'localhost'
    t.doesNotThrow(() => requireAllowed({ host }, allowed))
    const origins = [
      '',
      'null',
      'http://evil.example',
      'https://localhost.evil.example',
      'http://evil.example:80/localhost',
      'file://',
      'localhost',
      'chrome-extension://abcdef',
    ]
    for (const origin of origins) {
      t.throws(() => requireAllowed({ host, origin }, allowed), { code: 'forbidden' }, origin)
    }
    t.end()
  },
)

await t.test('names of one server are not those of another', (t) => {
  t.throws(() => requireAllowed({ host: 'data.example.org' }, allowedHosts([])), {
    code: 'forbidden',
    detail: /--allowed-hosts/,
  })
  t.end()
})
