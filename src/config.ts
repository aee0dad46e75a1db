import { isIPv4, isIPv6 } from 'node:net'
import { badRequest } from './errors.js'

/** The languages of letters and of the portal. */
export type Language = 'en' | 'ru'

/** One setting: its flag and variable, its default, and the parser of its text. */
interface SettingDefinition<T, Default extends string | null> {
  /** Null for a secret: other users of the machine can read command lines. */
  readonly flag: string | null
  readonly variable: string
  /** In the form that the owner writes; null = computed at start. */
  readonly default: Default
  readonly help: string
  readonly parse: (text: string) => T
}

function setting<T, Default extends string | null>(
  flag: string,
  value: Default,
  help: string,
  parse: (text: string) => T,
): SettingDefinition<T, Default> {
  const variable = `DAS_${flag.toUpperCase().replaceAll('-', '_')}`
  return { flag: `--${flag}`, variable, default: value, help, parse }
}

function secret<T>(
  name: string,
  help: string,
  parse: (text: string) => T,
): SettingDefinition<T, null> {
  return { ...setting(name, null, help, parse), flag: null }
}

/** The list of settings, also for `--help` and the test of the documentation. */
export const settings = {
  host: setting('host', '127.0.0.1', 'address to listen on', parseText),
  port: setting('port', '8080', 'port to listen on; 0 chooses a free one', parsePort),
  registry: setting('registry', 'registry.yaml', 'the registry of datasets', parseText),
  state: setting('state', 'var', 'folder for control.db, versions and keys (mode 0700)', parseText),
  publicUrl: setting(
    'public-url',
    null,
    'the address that users see, for printed links; from host and port when not set',
    parseUrl,
  ),
  allowedHosts: setting(
    'allowed-hosts',
    '',
    'comma-separated host names that /mcp answers to, besides localhost, --host and --public-url',
    parseHosts,
  ),
  corsOrigins: setting(
    'cors-origins',
    '',
    'comma-separated origins whose web pages may call REST, such as https://app.example.org; ' +
      'or * for any',
    parseOrigins,
  ),
  trustProxy: setting(
    'trust-proxy',
    '',
    'comma-separated networks (CIDR) of proxies whose X-Forwarded-For is trusted',
    parseNetworks,
  ),
  metricsPort: setting(
    'metrics-port',
    null,
    'port of the Prometheus metrics, on a listener of its own; no metrics when not set',
    parsePort,
  ),
  metricsHost: setting(
    'metrics-host',
    '127.0.0.1',
    'address of the metrics; they need no token, so keep them from the Internet',
    parseText,
  ),
  memoryLimit: setting(
    'memory-limit',
    null,
    'memory of the query engine, such as 2GB or 512MB; ' +
      "60 % of the machine's or the cgroup's memory when not set",
    parseBytes,
  ),
  querySlots: setting(
    'query-slots',
    null,
    'concurrent queries, 1 to 32; as many as cores when not set',
    parseSlots,
  ),
  scrubDays: setting(
    'scrub-days',
    '7',
    'the running server verifies every stored file once in this number of days; 0 = never',
    parseDays,
  ),
  smtpUrl: secret(
    'smtp-url',
    'the mail server, such as smtp://user:password@host:587 or smtps://…; no mail when not set',
    parseSmtpUrl,
  ),
  mailFrom: setting(
    'mail-from',
    null,
    'the sender of letters, such as data@example.org or Data <data@example.org>',
    parseText,
  ),
  mailLanguage: setting(
    'mail-language',
    'en',
    'the language of letters to new subscribers: en or ru',
    parseLanguage,
  ),
  drainSeconds: setting(
    'drain-seconds',
    '0',
    'seconds in which a stopping server still accepts connections while /readyz says 503',
    parseDrain,
  ),
  logLevel: setting('log-level', 'info', 'trace, debug, info, warn, error or silent', parseLevel),
} as const

type Settings = typeof settings

/** Every setting, read and checked; null when it is computed at start. */
export type Config = {
  readonly [Key in keyof Settings]:
    ReturnType<Settings[Key]['parse']> | Extract<Settings[Key]['default'], null>
}

/**
 * Reads the settings: flags, then `DAS_*` variables, then defaults.
 * @throws bad_request naming the flag and the variable of a wrong value; never repeats a secret
 */
export function readConfig(
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
): Config {
  const entries = Object.entries(settings).map(([key, each]) => {
    const given = flags[key] ?? environment[each.variable] ?? each.default
    if (given === null || given === undefined) return [key, null]
    try {
      return [key, each.parse(String(given))]
    } catch (cause) {
      const name = each.flag === null ? each.variable : `${each.flag} (${each.variable})`
      throw badRequest(`${name}: ${(cause as Error).message}`)
    }
  })
  return Object.freeze(Object.fromEntries(entries)) as Config
}

/** The prefix of every path that users see, without a slash at its end; usually empty. */
export function rootPath(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
}

function parseText(text: string): string {
  if (text === '') throw new Error('is empty')
  return text
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Error(`"${text}" is not a port (0 to 65535)`)
}

function parseSlots(text: string): number {
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 32) return Number(text)
  throw new Error(`must be a whole number from 1 to 32, got "${text}"`)
}

const drainSecondsMax = 300

function parseDrain(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= drainSecondsMax) return Number(text)
  throw new Error(`must be a whole number of seconds from 0 to ${drainSecondsMax}, got "${text}"`)
}

const scrubDaysMax = 365

function parseDays(text: string): number {
  if (/^\d{1,3}(\.\d+)?$/.test(text) && Number(text) <= scrubDaysMax) return Number(text)
  throw new Error(`must be a number of days from 0 to ${scrubDaysMax}, got "${text}"`)
}

function parseUrl(text: string): string {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url && !url.search && !url.hash && !url.username) return text.replace(/\/+$/, '')
  throw new Error(
    `"${text}" is not an http or https address; write it like https://data.example.org`,
  )
}

/** The trimmed parts of a comma-separated list, without empty ones. */
function parts(text: string): readonly string[] {
  return text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
}

function parseHosts(text: string): readonly string[] {
  const hosts = parts(text)
  const wrong = hosts.find((host) => !/^([\w.-]+|\[[\da-f:.]+\])$/i.test(host))
  if (wrong === undefined) return hosts.map((host) => host.toLowerCase())
  throw new Error(`"${wrong}" is not a host name without a port; write it like data.example.org`)
}

function parseOrigins(text: string): readonly string[] {
  const origins = parts(text)
  if (origins.length === 1 && origins[0] === '*') return origins
  for (const each of origins) {
    const origin = /^https?:\/\//i.test(each) && URL.canParse(each) ? new URL(each).origin : null
    if (origin === each) continue
    if (each === '*') throw new Error('"*" means every origin: write it alone')
    const form = origin === null ? 'write it like https://app.example.org' : `write ${origin}`
    throw new Error(`"${each}" is not an origin: ${form}`)
  }
  return origins
}

function parseNetworks(text: string): readonly string[] {
  const networks = parts(text)
  const wrong = networks.find((network) => !isNetwork(network))
  if (wrong === undefined) return networks
  throw new Error(`"${wrong}" is not an address or network; write it like 10.0.0.0/8`)
}

function isNetwork(text: string): boolean {
  const [address = '', prefix = '1', ...rest] = text.split('/')
  const bitsMax = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0
  return rest.length === 0 && /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bitsMax
}

const unitBytes: Readonly<Record<string, number | undefined>> = {
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
}

const memoryBytesMin = 64e6

function parseBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?([KMGT]i?B)$/i.exec(text)
  const unit = unitBytes[match?.[2]?.toUpperCase() ?? '']
  const bytes = Math.floor(Number(match?.[1]) * (unit ?? NaN))
  if (bytes >= memoryBytesMin && Number.isSafeInteger(bytes)) return bytes
  throw new Error(`"${text}" is not a size of at least 64MB; write it like 2GB or 512MB`)
}

/** Never repeats the text, which contains a password. */
function parseSmtpUrl(text: string): URL {
  const url = /^smtps?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url?.hostname && !url.search && !url.hash && /^\/?$/.test(url.pathname)) return url
  throw new Error('must be an address like smtp://user:password@host:587 or smtps://host')
}

function parseLanguage(text: string): Language {
  if (text === 'en' || text === 'ru') return text
  throw new Error(`must be en or ru, got "${text}"`)
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

function parseLevel(text: string): string {
  if (levels.includes(text)) return text
  throw new Error(`must be one of ${levels.join(', ')}, got "${text}"`)
}
