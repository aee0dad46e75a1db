import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Random } from '../../random.js'
import { base62 } from './base62.js'

/**
 * A token that is sold, the secrets of an agent's connection, the cookie of a session, what its
 * pages show to REST, the cookie of an owner's session, and the link in a letter about an order.
 */
const secretKinds = ['live', 'agent', 'renew', 'code', 'session', 'page', 'owner', 'order'] as const
export type SecretKind = (typeof secretKinds)[number]

const livePrefix = 'das_live_'
const secretBytes = 32
const secretLength = 43
const checksumLength = 6
const hintLength = 4

const anyKind = secretKinds.join('|')
const secretPattern = new RegExp(`^das_(${anyKind})_[0-9A-Za-z]{49}$`)
const secretStart = new RegExp(`das_(?:${anyKind}|demo)_`, 'i')
const secretText = new RegExp(`das_(?:${anyKind})_[0-9A-Za-z]+`, 'g')
const demoPattern = /^das_demo_[0-9A-Za-z]{4,64}$/

export interface NewToken {
  /** The secret itself: shown once or mailed, never stored. */
  readonly token: string
  /** SHA-256, 32 bytes: this is stored. */
  readonly hash: Buffer
  /** `das_live_…` and the last 4 characters: this may be shown later. */
  readonly hint: string
}

export interface NewSecret {
  /** The secret itself: given out once, never stored. */
  readonly secret: string
  /** SHA-256, 32 bytes: this is stored. */
  readonly hash: Buffer
}

export interface ParsedToken {
  readonly kind: SecretKind | 'demo'
  readonly hash: Buffer
}

/**
 * A new live token: `das_live_`, 256 random bits as 43 base62 characters, and a checksum of both as
 * 6 more. A double click selects all of it, and a leak scanner finds it with
 * `grep -rE 'das_live_[0-9A-Za-z]{49}'`.
 */
export function createToken(random: Random): NewToken {
  const { secret: token, hash: stored } = createSecret(random, 'live')
  return { token, hash: stored, hint: tokenHint(token) }
}

/** A new secret of this kind, in the form of `createToken` with the kind in its prefix. */
export function createSecret(random: Random, kind: SecretKind): NewSecret {
  const number = BigInt(`0x${random.bytes(secretBytes).toString('hex')}`)
  const unchecked = `das_${kind}_${base62(number, secretLength)}`
  const secret = unchecked + checksum(unchecked)
  return { secret, hash: hashToken(secret) }
}

/**
 * A token's kind and hash, or `undefined` for text that can't be a token. It reads no database: it
 * rejects every secret with one wrong character, and all but one in four billion invented ones.
 * A demo token is chosen by the registry's owner and has no checksum.
 */
export function parseToken(text: string): ParsedToken | undefined {
  if (demoPattern.test(text)) return { kind: 'demo', hash: hashToken(text) }
  const kind = secretPattern.exec(text)?.[1] as SecretKind | undefined
  if (kind === undefined) return undefined
  const unchecked = text.slice(0, -checksumLength)
  if (checksum(unchecked) !== text.slice(-checksumLength)) return undefined
  return { kind, hash: hashToken(text) }
}

/** A text for a log or a record: what looks like a secret, or a part of one, is left out. */
export function withoutTokens(text: string): string {
  return text.replaceAll(secretText, '[token]')
}

/**
 * The parts of a text that look like tokens or most of one, each once, in order; `parseToken` says
 * whether they are. A prefix alone, which code and documents contain, does not count.
 */
export function tokensIn(text: string): readonly string[] {
  return [...new Set(text.match(/das_(?:live_[0-9A-Za-z]{8,}|demo_[0-9A-Za-z]{4,})/g))]
}

/** The prefix and the last 4 characters of a token: this may be shown. */
export function tokenHint(token: string): string {
  return `${token.slice(0, livePrefix.length)}…${token.slice(livePrefix.length).slice(-hintLength)}`
}

/** Whether a URL holds a token, also in percent-encoding: `%64as_live_` is `das_live_`. */
export function holdsToken(url: string): boolean {
  const text = url.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return secretStart.test(text)
}

/** The error text for a token in a URL. */
export const tokenInUrlText =
  'A token does not belong in a URL, where logs keep it: send it in the header ' +
  '"Authorization: Bearer <token>".'

/**
 * SHA-256 of the token's text, 32 bytes. It needs neither salt nor pepper: 256 random bits can't be
 * guessed (crates.io does the same), and a backup is complete without a key.
 */
export function hashToken(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** CRC-32 as base62, fixed width. Against typing errors, not forgery: the hash decides. */
function checksum(text: string): string {
  return base62(BigInt(crc32(text)), checksumLength)
}
