import t from 'tap'
import { readConfig, settings } from '../src/config.js'

/** Why a value is refused, given as a flag and as a variable: the same words. */
function refusals(flag: keyof typeof settings, value: string): readonly string[] {
  const ways = [
    () => readConfig({ [flag]: value }, {}),
    () => readConfig({}, { [settings[flag].variable]: value }),
  ]
  return ways.map((read) => {
    try {
      read()
      return ''
    } catch (cause) {
      const { code, detail } = cause as { code?: string; detail?: string }
      if (code !== 'bad_request') throw cause
      return detail ?? ''
    }
  })
}

await t.test('without a word the settings are the defaults', (t) => {
  const config = readConfig({}, {})
  t.same(config, {
    host: '127.0.0.1',
    port: 8080,
    registry: 'registry.yaml',
    state: 'var',
    controlUrl: null,
    publicUrl: null,
    allowedHosts: [],
    clientDocuments: true,
    corsOrigins: [],
    trustProxy: [],
    metricsPort: null,
    metricsHost: '127.0.0.1',
    memoryLimit: null,
    querySlots: null,
    scrubDays: 7,
    drainSeconds: 0,
    objectPollSeconds: 60,
    diskLimit: null,
    objectEndpoint: null,
    objectRegion: null,
    trinoUser: 'das',
    trinoPassword: null,
    trinoPollSeconds: 60,
    smtpUrl: null,
    paymentSecret: null,
    mailFrom: null,
    mailLanguage: 'en',
    logLevel: 'info',
  })
  t.ok(Object.isFrozen(config))
  t.end()
})

await t.test('a flag goes before a variable, a variable before the default', (t) => {
  const environment = { DAS_PORT: '9000', DAS_HOST: '0.0.0.0', DAS_LOG_LEVEL: 'debug' }
  const config = readConfig({ port: '9001', host: undefined }, environment)
  t.equal(config.port, 9001)
  t.equal(config.host, '0.0.0.0', 'a flag that is not given leaves the variable its word')
  t.equal(config.logLevel, 'debug')
  t.equal(config.state, 'var')
  t.end()
})

const usual = { objectEndpoint: 'AWS_ENDPOINT_URL_S3', objectRegion: 'AWS_REGION' }

await t.test(
  'each setting has a flag and a variable of its name, but secrets and usual names',
  (t) => {
    for (const [key, { flag, variable, help }] of Object.entries(settings)) {
      const words = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      const hasFlag = ![
        'controlUrl',
        'smtpUrl',
        'paymentSecret',
        'trinoPassword',
        ...Object.keys(usual),
      ].includes(key)
      t.equal(flag, hasFlag ? `--${words}` : null)
      const own = `DAS_${words.toUpperCase().replaceAll('-', '_')}`
      t.equal(variable, new Map(Object.entries(usual)).get(key) ?? own)
      t.match(help, /\S/)
    }
    t.end()
  },
)

await t.test('each setting is read in its own form', (t) => {
  const read = <Key extends keyof typeof settings>(key: Key, text: string) =>
    readConfig({}, { [settings[key].variable]: text })[key]
  t.equal(read('port', '0'), 0)
  t.equal(read('port', '65535'), 65_535)
  t.equal(read('publicUrl', 'https://data.example.org/base//'), 'https://data.example.org/base')
  t.equal(read('publicUrl', 'http://127.0.0.1:8080'), 'http://127.0.0.1:8080')
  t.same(read('corsOrigins', ' https://a.example, http://localhost:3000,'), [
    'https://a.example',
    'http://localhost:3000',
  ])
  t.same(read('corsOrigins', '*'), ['*'])
  t.same(read('trustProxy', ''), [])
  t.same(read('trustProxy', ' 10.0.0.0/8, ::1 ,fd00::/8,192.0.2.1,'), [
    '10.0.0.0/8',
    '::1',
    'fd00::/8',
    '192.0.2.1',
  ])
  t.equal(read('memoryLimit', '2GB'), 2_000_000_000)
  t.equal(read('memoryLimit', '1.5 gib'), 1_610_612_736)
  t.equal(read('memoryLimit', '64MB'), 64_000_000)
  t.equal(read('memoryLimit', '65536KiB'), 67_108_864)
  t.equal(read('memoryLimit', '1TB'), 1e12)
  t.equal(read('diskLimit', '200GB'), 2e11)
  t.equal(read('diskLimit', '1MB'), 1e6)
  t.equal(read('querySlots', '1'), 1)
  t.equal(read('querySlots', '32'), 32)
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'silent']) {
    t.equal(read('logLevel', level), level)
  }
  t.equal(read('registry', 'a b/реестр.yaml'), 'a b/реестр.yaml')
  t.end()
})

await t.test('a bad value is told with its flag, its variable and what would be right', (t) => {
  const empty = () => 'is empty'
  const port = (text: string) => `"${text}" is not a port (0 to 65535)`
  const url = (text: string) =>
    `"${text}" is not an http or https address; write it like https://data.example.org`
  const host = (text: string) =>
    `"${text}" is not a host name without a port; write it like data.example.org`
  const origin = (text: string) =>
    `"${text}" is not an origin: write it like https://app.example.org`
  const network = (text: string) =>
    `"${text}" is not an address or network; write it like 10.0.0.0/8`
  const size = (least: string) => (text: string) =>
    `"${text}" is not a size of at least ${least}; write it like 2GB or 512MB`
  const days = (text: string) => `must be a number of days from 0 to 365, got "${text}"`
  const drain = (text: string) => `must be a whole number of seconds from 0 to 300, got "${text}"`
  const seconds = (text: string) =>
    `must be a whole number of seconds from 1 to 86400, got "${text}"`
  const slots = (text: string) => `must be a whole number from 1 to 32, got "${text}"`
  const database = () => 'must be an address like postgres://user:password@host:5432/database'
  const server = () => 'must be an address like smtp://user:password@host:587 or smtps://host'
  const onOff = (text: string) => `must be on or off, got "${text}"`
  const language = (text: string) => `must be en or ru, got "${text}"`
  const level = (text: string) =>
    `must be one of trace, debug, info, warn, error, silent, got "${text}"`
  const cases: readonly (readonly [
    keyof typeof settings,
    (text: string) => string,
    readonly string[],
  ])[] = [
    ['host', empty, ['']],
    ['registry', empty, ['']],
    ['state', empty, ['']],
    ['metricsHost', empty, ['']],
    ['metricsPort', port, ['', 'on', '65536']],
    ['port', port, ['', '-1', '65536', '80.0', '0x50', ' 80', 'http', '1e3']],
    [
      'publicUrl',
      url,
      [
        '',
        'example.org',
        'ftp://example.org',
        'https://',
        'http:example.org',
        'https://a/?b=c',
        'https://a/#b',
        'https://me:secret@a/',
      ],
    ],
    ['allowedHosts', host, ['https://a', 'a:80', 'a b', 'a/b', '::1', '*', 'a?']],
    ['clientDocuments', onOff, ['', 'yes', 'ON']],
    ['corsOrigins', origin, ['a.example', 'null', 'https://', 'ftp://a.example', '*.a.example']],
    [
      'trustProxy',
      network,
      [
        'localhost',
        '10.0.0.0/33',
        '10.0.0.0/0',
        '::1/129',
        '10.0.0/8',
        '10.0.0.0/8/8',
        '10.0.0.0/',
        'loopback',
        '10.0.0.0/8x',
      ],
    ],
    [
      'memoryLimit',
      size('64MB'),
      ['', '2', '2G', '63MB', '-2GB', '2 000MB', '1e3MB', `${'9'.repeat(400)}TB`],
    ],
    ['diskLimit', size('1MB'), ['', '0', '999KB', '200 gigabytes', '-1GB']],
    ['querySlots', slots, ['', '0', '33', '1.5', 'all', '100']],
    ['drainSeconds', drain, ['', '-1', '301', '1.5', '7s']],
    ['objectPollSeconds', seconds, ['', '0', '-1', '86401', '1.5', '1m']],
    ['objectEndpoint', url, ['', 'a.example', 's3://bucket', 'http://h?a=b']],
    ['objectRegion', () => 'is empty', ['']],
    ['controlUrl', database, ['', 'mysql://a', 'db.example.org:5432/das', '/run/postgres']],
    ['trinoUser', () => 'is empty', ['']],
    ['trinoPassword', () => 'is empty', ['']],
    ['trinoPollSeconds', seconds, ['', '0', '-1', '86401', '1.5', '1m']],
    ['scrubDays', days, ['', '-1', '366', '7d', '1e1', 'never']],
    [
      'paymentSecret',
      () => 'must be whsec_ and the base64 of 24 to 64 random bytes',
      ['', 'secret', 'whsec_', 'whsec_AAAA', 'whsec_!', `whsec_${'A'.repeat(100)}`],
    ],
    [
      'smtpUrl',
      server,
      ['', 'mail.example.org', 'http://a', 'smtp://', 'smtp://u:p@h/x', 'smtp://h?a=b'],
    ],
    ['mailFrom', () => 'is empty', ['']],
    ['mailLanguage', language, ['', 'EN', 'de']],
    ['logLevel', level, ['', 'INFO', 'verbose', 'fatal']],
  ]
  t.same([...new Set(cases.map(([key]) => key))].sort(), Object.keys(settings).sort())
  for (const [key, words, texts] of cases) {
    const { flag, variable } = settings[key]
    for (const text of texts) {
      const detail = `${flag === null ? variable : `${flag} (${variable})`}: ${words(text)}`
      t.same(refusals(key, text), [detail, detail])
    }
  }
  for (const text of ['https://a.example/', 'https://A.example', 'https://a.example:443/x?y']) {
    t.match(refusals('corsOrigins', text)[0], `"${text}" is not an origin: write https://a.example`)
  }
  t.match(
    refusals('corsOrigins', 'https://a.example,*')[0],
    '"*" means every origin: write it alone',
  )
  t.same(refusals('trustProxy', '10.0.0.0/8,nonsense')[0]?.split(': ')[1], network('nonsense'))
  t.end()
})
