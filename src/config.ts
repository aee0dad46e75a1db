import { badRequest } from './errors.js'
import {
  parseDays,
  parseDiskSize,
  parseDrain,
  parseHosts,
  parseLanguage,
  parseLevel,
  parseMemory,
  parseNetworks,
  parseOrigins,
  parsePollSeconds,
  parsePort,
  parseSlots,
  parsePostgresUrl,
  parseSmtpUrl,
  parseSwitch,
  parseText,
  parseUrl,
  parseWebhookSecret,
} from './setting-values.js'

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

/** A setting by the name that other programs give it. */
function usual<T>(
  variable: string,
  help: string,
  parse: (text: string) => T,
): SettingDefinition<T, null> {
  return { flag: null, variable, default: null, help, parse }
}

/** The list of settings, also for `--help` and the test of the documentation. */
export const settings = {
  host: setting('host', '127.0.0.1', 'address to listen on', parseText),
  port: setting('port', '8080', 'port to listen on; 0 chooses a free one', parsePort),
  registry: setting('registry', 'registry.yaml', 'the registry of datasets', parseText),
  state: setting('state', 'var', 'folder for control.db, versions and keys (mode 0700)', parseText),
  controlUrl: secret(
    'control-url',
    'a PostgreSQL for what control.db holds, for several servers: postgres://user:password@host/db',
    parsePostgresUrl,
  ),
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
  clientDocuments: setting(
    'client-documents',
    'on',
    'on, or off: agents that sign in may be described by a document that this server fetches',
    parseSwitch,
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
    parseMemory,
  ),
  querySlots: setting(
    'query-slots',
    null,
    'concurrent queries, 1 to 32; as many as cores, at most 32, when not set',
    parseSlots,
  ),
  scrubDays: setting(
    'scrub-days',
    '7',
    'the running server verifies every stored file once in this number of days; 0 = never',
    parseDays,
  ),
  diskLimit: setting(
    'disk-limit',
    null,
    'disk space of versions and fetched objects in the state folder, such as 200GB; ' +
      'no limit when not set',
    parseDiskSize,
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
  paymentSecret: secret(
    'payment-secret',
    'the secret of POST /hooks/payment: whsec_ and base64 of 24 to 64 bytes; no path when not set',
    parseWebhookSecret,
  ),
  drainSeconds: setting(
    'drain-seconds',
    '0',
    'seconds in which a stopping server still accepts connections while /readyz says 503',
    parseDrain,
  ),
  objectPollSeconds: setting(
    'object-poll-seconds',
    '60',
    'seconds between two listings of files in object storage (s3://), 1 to 86400',
    parsePollSeconds,
  ),
  objectEndpoint: usual(
    'AWS_ENDPOINT_URL_S3',
    "the address of the object storage; Amazon's when not set",
    parseUrl,
  ),
  objectRegion: usual('AWS_REGION', 'the region of the object storage', parseText),
  trinoUser: setting('trino-user', 'das', 'the user who reads tables of Trino', parseText),
  trinoPassword: secret(
    'trino-password',
    'the password of that user, sent only to https:// clusters; none is sent when not set',
    parseText,
  ),
  trinoPollSeconds: setting(
    'trino-poll-seconds',
    '60',
    'seconds between two checks of a table for a new state, 1 to 86400',
    parsePollSeconds,
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

/**
 * Whether agents can sign in at this address of the service: clients need https, or this machine,
 * and look for the pages at the root of the address.
 */
export function takesSignIn(base: string): boolean {
  const { protocol, hostname, pathname } = new URL(base)
  return pathname === '/' && (protocol === 'https:' || isLoopbackName(hostname))
}

/** Whether a host name of a URL means the machine that asks. */
export function isLoopbackName(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
