import { isIPv4, isIPv6 } from 'node:net'

// Each parser takes the text of a setting, and throws an Error that completes the setting's name.

/** Any text but an empty one. */
export function parseText(text: string): string {
  if (text === '') throw new Error('is empty')
  return text
}

/** A port, 0 to 65535. */
export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Error(`"${text}" is not a port (0 to 65535)`)
}

/** The launcher starts threads for so many. */
export const querySlotsMax = 32

/** A number of concurrent queries. */
export function parseSlots(text: string): number {
  const isWhole = /^\d{1,2}$/.test(text)
  if (isWhole && Number(text) >= 1 && Number(text) <= querySlotsMax) return Number(text)
  throw new Error(`must be a whole number from 1 to ${querySlotsMax}, got "${text}"`)
}

const drainSecondsMax = 300

/** Whole seconds. */
export function parseDrain(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= drainSecondsMax) return Number(text)
  throw new Error(`must be a whole number of seconds from 0 to ${drainSecondsMax}, got "${text}"`)
}

const pollSecondsMax = 86_400

/** Whole seconds, at least one. */
export function parsePollSeconds(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= pollSecondsMax) return seconds
  throw new Error(`must be a whole number of seconds from 1 to ${pollSecondsMax}, got "${text}"`)
}

const scrubDaysMax = 365

/** Days, also parts of one. */
export function parseDays(text: string): number {
  if (/^\d{1,3}(\.\d+)?$/.test(text) && Number(text) <= scrubDaysMax) return Number(text)
  throw new Error(`must be a number of days from 0 to ${scrubDaysMax}, got "${text}"`)
}

/** An http or https address, without its last slashes. */
export function parseUrl(text: string): string {
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

/** Host names in lower case. */
export function parseHosts(text: string): readonly string[] {
  const hosts = parts(text)
  const wrong = hosts.find((host) => !/^([\w.-]+|\[[\da-f:.]+\])$/i.test(host))
  if (wrong === undefined) return hosts.map((host) => host.toLowerCase())
  throw new Error(`"${wrong}" is not a host name without a port; write it like data.example.org`)
}

/** Origins of web pages, or `*` alone. */
export function parseOrigins(text: string): readonly string[] {
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

/** Addresses and networks. */
export function parseNetworks(text: string): readonly string[] {
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

/** A size of memory in bytes. */
export function parseMemory(text: string): number {
  return parseBytes(text, '64MB')
}

/** A size of a disk in bytes. */
export function parseDiskSize(text: string): number {
  return parseBytes(text, '1MB')
}

function parseBytes(text: string, least: '1MB' | '64MB'): number {
  const match = /^(\d+(?:\.\d+)?) ?([KMGT]i?B)$/i.exec(text)
  const unit = unitBytes[match?.[2]?.toUpperCase() ?? '']
  const bytes = Math.floor(Number(match?.[1]) * (unit ?? NaN))
  if (bytes >= Number.parseInt(least) * 1e6 && Number.isSafeInteger(bytes)) return bytes
  throw new Error(`"${text}" is not a size of at least ${least}; write it like 2GB or 512MB`)
}

/** Never repeats the text, which contains a password. */
export function parseSmtpUrl(text: string): URL {
  const url = /^smtps?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url?.hostname && !url.search && !url.hash && /^\/?$/.test(url.pathname)) return url
  throw new Error('must be an address like smtp://user:password@host:587 or smtps://host')
}

/** Never repeats the text. */
export function parseWebhookSecret(text: string): string {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? ''
  const { length } = Buffer.from(base64, 'base64')
  if (length >= 24 && length <= 64) return text
  throw new Error('must be whsec_ and the base64 of 24 to 64 random bytes')
}

/** The URL of a PostgreSQL, which may hold a password: an error does not show it. */
export function parsePostgresUrl(text: string): string {
  if (URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol)) return text
  throw new Error('must be an address like postgres://user:password@host:5432/database')
}

/** `on` or `off`. */
export function parseSwitch(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on'
  throw new Error(`must be on or off, got "${text}"`)
}

/** A language of letters. */
export function parseLanguage(text: string): 'en' | 'ru' {
  if (text === 'en' || text === 'ru') return text
  throw new Error(`must be en or ru, got "${text}"`)
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/** A level of the log. */
export function parseLevel(text: string): string {
  if (levels.includes(text)) return text
  throw new Error(`must be one of ${levels.join(', ')}, got "${text}"`)
}
