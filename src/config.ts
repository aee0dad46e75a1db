import { isIPv4, isIPv6 } from 'node:net'
import { badRequest } from './errors.js'

/** What a subscriber can be written to in. */
export type Language = 'en' | 'ru'

/** One setting: where it comes from, what it is when nobody says, and how its text is read. */
interface Setting<T, Default extends string | null> {
  /** Null for a secret: other users of the machine can read command lines. */
  readonly flag: string | null
  readonly variable: string
  /** As the owner would write it; null = worked out at start. */
  readonly default: Default
  readonly help: string
  readonly parse: (text: string) => T
}

function setting<T, Default extends string | null>(
  flag: string,
  value: Default,
  help: string,
  parse: (text: string) => T,
): Setting<T, Default> {
  const variable = `DAS_${flag.toUpperCase().replaceAll('-', '_')}`
  return { flag: `--${flag}`, variable, default: value, help, parse }
}

function secret<T>(name: string, help: string, parse: (text: string) => T): Setting<T, null> {
  return { ...setting(name, null, help, parse), flag: null }
}

/** The one list of settings: it feeds the reader, `--help` and the documentation's test. */
export const settings = {
  host: setting('host', '127.0.0.1', 'address to listen on', parseText),
  port: setting('port', '8080', 'port to listen on; 0 takes a free one', parsePort),
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
    'comma-separated origins whose web pages may call REST, as https://app.example.org; or * for any',
    parseOrigins,
  ),
  trustProxy: setting(
    'trust-proxy',
    '',
    'comma-separated networks (CIDR) whose X-Forwarded-For is believed',
    parseNetworks,
  ),
  memoryLimit: setting(
    'memory-limit',
    null,
    "the query engine's memory, as 2GB or 512MB; 60 % of the machine's (or the cgroup's) when not set",
    parseBytes,
  ),
  querySlots: setting(
    'query-slots',
    null,
    'queries that run at once, 1 to 32; as many as cores when not set',
    parseSlots,
  ),
  scrubDays: setting(
    'scrub-days',
    '7',
    'days in which the running server reads every stored file once to verify it; 0 = never',
    parseDays,
  ),
  smtpUrl: secret(
    'smtp-url',
    'the mail server, as smtp://user:password@host:587 or smtps://…; no mail when not set',
    parseSmtpUrl,
  ),
  mailFrom: setting(
    'mail-from',
    null,
    'the sender of letters, as data@example.org or Data <data@example.org>',
    parseText,
  ),
  mailLanguage: setting(
    'mail-language',
    'en',
    'the language of letters to new subscribers: en or ru',
    parseLanguage,
  ),
  logLevel: setting('log-level', 'info', 'trace, debug, info, warn, error or silent', parseLevel),
} as const

type Settings = typeof settings

/** Every setting, read and checked; null where it is worked out at start. */
export type Config = {
  readonly [Key in keyof Settings]:
    ReturnType<Settings[Key]['parse']> | Extract<Settings[Key]['default'], null>
}

/**
 * Reads the settings: flags, then `DAS_*` variables, then defaults.
 * @throws bad_request naming the flag and the variable of a value that can't be read; a secret value
 *   is not repeated
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

/** What stands before every path as users see it, without a slash at its end; often nothing. */
export function rootPath(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
}

function parseText(text: string): string {
  if (text === '') throw new Error('is empty')
  return text
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Error(`"${text}" is no port, 0 to 65535`)
}

function parseSlots(text: string): number {
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 32) return Number(text)
  throw new Error(`"${text}" is no number from 1 to 32`)
}

const scrubDaysMax = 365

function parseDays(text: string): number {
  if (/^\d{1,3}(\.\d+)?$/.test(text) && Number(text) <= scrubDaysMax) return Number(text)
  throw new Error(`must be a number of days from 0 to ${scrubDaysMax}, got "${text}"`)
}

function parseUrl(text: string): string {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url && !url.search && !url.hash && !url.username) return text.replace(/\/+$/, '')
  throw new Error(`"${text}" is no http or https address, as https://data.example.org`)
}

function parseHosts(text: string): readonly string[] {
  const hosts = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
  const wrong = hosts.find((host) => !/^([\w.-]+|\[[\da-f:.]+\])$/i.test(host))
  if (wrong === undefined) return hosts.map((host) => host.toLowerCase())
  throw new Error(`"${wrong}" is no host name without a port, as data.example.org`)
}

function parseOrigins(text: string): readonly string[] {
  const origins = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
  if (origins.length === 1 && origins[0] === '*') return origins
  for (const each of origins) {
    const origin = /^https?:\/\//i.test(each) && URL.canParse(each) ? new URL(each).origin : null
    if (origin === each) continue
    if (each === '*') throw new Error('"*" stands alone: it means every origin')
    const form = origin === null ? 'as https://app.example.org' : `write ${origin}`
    throw new Error(`"${each}" is no origin: ${form}`)
  }
  return origins
}

function parseNetworks(text: string): readonly string[] {
  const networks = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
  const wrong = networks.find((network) => !isNetwork(network))
  if (wrong === undefined) return networks
  throw new Error(`"${wrong}" is no address or network, as 10.0.0.0/8`)
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
  throw new Error(`"${text}" is no size of at least 64MB, as 2GB or 512MB`)
}

/** Never repeats the text: it holds a password. */
function parseSmtpUrl(text: string): URL {
  const url = /^smtps?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url?.hostname && !url.search && !url.hash && /^\/?$/.test(url.pathname)) return url
  throw new Error('is no address like smtp://user:password@host:587 or smtps://host')
}

function parseLanguage(text: string): Language {
  if (text === 'en' || text === 'ru') return text
  throw new Error(`"${text}" is neither en nor ru`)
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

function parseLevel(text: string): string {
  if (levels.includes(text)) return text
  throw new Error(`"${text}" is none of ${levels.join(', ')}`)
}
