import { isIPv4, isIPv6 } from 'node:net'
import { networkOf } from '../access/rate-limits.js'
import type { Language } from '../config.js'
import { queueLetter } from '../control/letters.js'
import {
  countCodes,
  countReissueCodes,
  createCodeId,
  findCode,
  insertCode,
  isCodeId,
  noteWrongTry,
} from '../control/mailed-codes/email-codes.js'
import type {
  CodeCounts,
  CodeNetworks,
  CodePurpose,
  EmailCode,
} from '../control/mailed-codes/email-codes.js'
import {
  codeDigits,
  codeLifeMs,
  codesMax,
  codesPerEmailMax,
  codesPerNetworkMax,
  codeTriesMax,
  codeWindowMs,
} from '../control/mailed-codes/code-limits.js'
import type { ControlStore } from '../control/store/store.js'
import { isMailDomain, plainEmail } from '../control/email-address.js'
import { compactNumber } from '../plain-text.js'
import { isSignature, signatureOf } from '../signature.js'
import { sealSecret } from './letters/seal.js'
import { CodeRefusal } from './form-refusal.js'

/** What asking for codes needs. */
export interface CodeParts {
  readonly store: ControlStore
  /** For keyed hashes of codes and networks: one key, so that all pages share the limits. */
  readonly key: Uint8Array
  /** Seals codes for letters. */
  readonly mailKey: Uint8Array
  /** Ms since the epoch. */
  readonly now: () => number
  /** Sends waiting letters soon. */
  readonly sendLetters: () => void
}

/** Who asks for a code. */
export interface Visitor {
  readonly email: string
  readonly language: Language
  /** The client's network address. */
  readonly address: string
}

export interface CodeRequest extends Visitor {
  readonly purpose: CodePurpose
  /** What the code is for; it is kept with the code. */
  readonly subject: unknown
}

/**
 * Mails a code and returns its id, for the page that asked. It does the same work for every
 * address, whether it is known or not. Codes for the holder of a token are counted by themselves,
 * so that strangers who ask with the same address can't keep him from one.
 *
 * @throws CodeRefusal for what is no address, and over the limits of an address, a network or all
 */
export async function requestCode(parts: CodeParts, request: CodeRequest): Promise<string> {
  const { store, key, mailKey, sendLetters } = parts
  const { purpose, language } = request
  const email = plainEmail(request.email.trim())
  const isOwners = purpose === 'reissue'
  if (email === null || !(isOwners || isMailDomain(email))) throw new CodeRefusal('email')
  const codeId = createCodeId(store.random)
  const code = String(store.random.below(10 ** codeDigits)).padStart(codeDigits, '0')
  const networks = codeNetworks(key, request.address)
  await store.write(async (tx) => {
    const createdAt = parts.now()
    const window = { since: createdAt - codeWindowMs, now: createdAt }
    const isOver = isOwners
      ? (await countReissueCodes(tx, email, window)) >= codesPerEmailMax
      : isOverLimits(await countCodes(tx, { email, networks, window }))
    if (isOver) throw new CodeRefusal('too-many-codes')
    const hash = keyedHash(key, 'code', `${codeId} ${code}`)
    const subject = JSON.stringify(request.subject)
    await insertCode(tx, { codeId, purpose, email, language, networks, hash, subject, createdAt })
    const sealedSecret = sealSecret(tx.random, mailKey, codeId, code)
    await queueLetter(tx, { kind: 'code', codeId, sealedSecret }, createdAt)
  })
  sendLetters()
  return codeId
}

function isOverLimits({ all, ofEmail, narrow, wider, widest }: CodeCounts): boolean {
  return (
    ofEmail >= codesPerEmailMax ||
    narrow >= codesPerNetworkMax.narrow ||
    wider >= codesPerNetworkMax.wider ||
    widest >= codesPerNetworkMax.widest ||
    all >= codesMax
  )
}

/** A code as its reader typed it, on the page that asked for it. */
export interface TypedCode {
  readonly codeId: string
  readonly code: string
}

/**
 * Runs `work` with the code if it is right: unused, mailed at most ten minutes ago, and typed wrong
 * less than five times. All in one transaction; a wrong code is counted in it.
 *
 * @throws CodeRefusal for any other code, with one text
 */
export async function withCode<T>(
  { store, key, now }: Pick<CodeParts, 'store' | 'key' | 'now'>,
  purpose: CodePurpose,
  { codeId, code }: TypedCode,
  work: (code: EmailCode, tx: ControlStore) => Promise<T>,
): Promise<T> {
  if (!isCodeId(codeId)) throw new CodeRefusal('code')
  const typed = keyedHash(key, 'code', `${codeId} ${compactNumber(code)}`)
  const done = await store.write(async (tx) => {
    const found = await findCode(tx, codeId)
    if (found === undefined || found.purpose !== purpose) return null
    const isRight = isSignature(typed, found.hash)
    // Of an owner it would say that the address is one.
    if (isRight && found.usedAt !== null && purpose !== 'owner') throw new CodeRefusal('used')
    if (!isOpen(found, now())) return null
    if (isRight) return { result: await work(found, tx) }
    await noteWrongTry(tx, codeId)
    return null
  })
  if (done === null) throw new CodeRefusal('code')
  return done.result
}

function isOpen({ createdAt, usedAt, wrongTries }: EmailCode, now: number): boolean {
  // A clock that was set back must not make a code live longer.
  const isInTime = Math.abs(now - createdAt) < codeLifeMs
  return usedAt === null && wrongTries < codeTriesMax && isInTime
}

/** IPv4 /24 and /16; IPv6 /64, /56 and /48. */
function codeNetworks(key: Uint8Array, address: string): CodeNetworks {
  const network = networkOf(address)
  const hashed = (text: string) => keyedHash(key, 'network', text)
  if (isIPv4(network)) {
    const bytes = network.split('.')
    const [narrow, widest] = [bytes.slice(0, 3).join('.'), bytes.slice(0, 2).join('.')]
    return { narrow: hashed(narrow), wider: null, widest: hashed(widest) }
  }
  if (!isIPv6(`${network}::`)) {
    return { narrow: hashed(network), wider: null, widest: hashed(network) }
  }
  const widest = network.split(':').slice(0, 3).join(':')
  const subnet = parseInt(network.slice(network.lastIndexOf(':') + 1), 16) >> 8
  return {
    narrow: hashed(network),
    wider: hashed(`${widest}:${subnet.toString(16)}xx`),
    widest: hashed(widest),
  }
}

function keyedHash(key: Uint8Array, what: string, text: string): Buffer {
  return signatureOf(key, `${what} ${text}`)
}
