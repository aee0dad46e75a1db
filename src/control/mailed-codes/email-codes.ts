import type { Language } from '../../config.js'
import type { Random } from '../../random.js'
import { insertInto, sql } from '../store/sql.js'
import type { Sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { randomBase62 } from '../tokens/base62.js'

/** What a code lets its reader do. */
export type CodePurpose = 'order' | 'lost-token' | 'reissue' | 'connect' | 'sign-in' | 'owner'

/** A code that was mailed to an address; times in ms since the epoch, UTC. */
export interface EmailCode {
  /** Known only to the page that asked for the code. */
  readonly codeId: string
  readonly purpose: CodePurpose
  readonly email: string
  readonly language: Language
  /** A keyed hash of the code. */
  readonly hash: Uint8Array
  /** What the code is for, as JSON. */
  readonly subject: string
  readonly createdAt: number
  readonly wrongTries: number
  readonly usedAt: number | null
}

const idLength = 32

const columns = sql`id AS "codeId", purpose, email, language, hash, subject,
  created_at AS "createdAt", wrong_tries AS "wrongTries", used_at AS "usedAt"`

/** An id that can't be guessed: 190 random bits. */
export function createCodeId(random: Random): string {
  return randomBase62(random, idLength)
}

/** Whether a text that a client sent can be an id: PostgreSQL refuses some texts as values. */
export function isCodeId(text: string): boolean {
  return text.length === idLength && /^[0-9A-Za-z]+$/.test(text)
}

/** Keyed hashes of a client's network and of the wider ones around it; IPv4 has no middle one. */
export interface CodeNetworks {
  readonly narrow: Uint8Array
  readonly wider: Uint8Array | null
  readonly widest: Uint8Array
}

/** Codes that strangers asked for: all, those of an address, and those for each network. */
export interface CodeCounts {
  readonly all: number
  readonly ofEmail: number
  readonly narrow: number
  readonly wider: number
  readonly widest: number
}

/** Codes from `since`, exclusive, to `now`: those of a clock that ran ahead do not count. */
export interface CodeWindow {
  readonly since: number
  readonly now: number
}

/** How many codes were made in a window without a token. */
export async function countCodes(
  store: ControlStore,
  { email, networks, window }: { email: string; networks: CodeNetworks; window: CodeWindow },
): Promise<CodeCounts> {
  const counted = sql`FROM email_codes WHERE purpose <> 'reissue' AND ${inWindow(window)}`
  const [counts] = await store.all<CodeCounts>(
    sql`SELECT
       (SELECT count(*) ${counted}) AS "all",
       (SELECT count(*) ${counted} AND ${store.dialect.isEmail(sql`email`, email)}) AS "ofEmail",
       (SELECT count(*) ${counted} AND network = ${networks.narrow}) AS narrow,
       (SELECT count(*) ${counted} AND wider_network = ${networks.wider}) AS wider,
       (SELECT count(*) ${counted} AND widest_network = ${networks.widest}) AS widest`,
  )
  return counts ?? { all: 0, ofEmail: 0, narrow: 0, wider: 0, widest: 0 }
}

/** How many codes were made in a window for holders of a token of this address. */
export async function countReissueCodes(
  store: ControlStore,
  email: string,
  window: CodeWindow,
): Promise<number> {
  const [found] = await store.all<{ count: number }>(
    sql`SELECT count(*) AS count FROM email_codes
     WHERE ${store.dialect.isEmail(sql`email`, email)} AND purpose = 'reissue'
       AND ${inWindow(window)}`,
  )
  return found?.count ?? 0
}

function inWindow({ since, now }: CodeWindow): Sql {
  return sql`created_at > ${since} AND created_at <= ${now}`
}

/** Stores a code's hash, in the caller's transaction. */
export async function insertCode(
  store: ControlStore,
  {
    codeId: id,
    networks: { narrow: network, wider: widerNetwork, widest: widestNetwork },
    ...code
  }: Omit<EmailCode, 'wrongTries' | 'usedAt'> & {
    readonly networks: CodeNetworks
  },
): Promise<void> {
  await store.run(insertInto('email_codes', { id, ...code, network, widerNetwork, widestNetwork }))
}

/** The code with this id; undefined when it is unknown or was removed. */
export async function findCode(
  store: ControlStore,
  codeId: string,
): Promise<EmailCode | undefined> {
  const [code] = await store.all<EmailCode>(
    sql`SELECT ${columns} FROM email_codes WHERE id = ${codeId}`,
  )
  return code
}

/** Counts a wrong try. */
export async function noteWrongTry(store: ControlStore, codeId: string): Promise<void> {
  await store.run(sql`UPDATE email_codes SET wrong_tries = wrong_tries + 1 WHERE id = ${codeId}`)
}

/** Marks a code as used: it is accepted once. */
export async function noteUse(store: ControlStore, codeId: string, now: number): Promise<void> {
  await store.run(sql`UPDATE email_codes SET used_at = ${now} WHERE id = ${codeId}`)
}

/**
 * Removes codes made at or before `until`, or after `ahead` by a clock that ran ahead, with their
 * letters; returns how many.
 */
export function removeCodes(
  store: ControlStore,
  times: { readonly until: number; readonly ahead: number },
): Promise<number> {
  return store.run(
    sql`DELETE FROM email_codes WHERE created_at <= ${times.until} OR created_at > ${times.ahead}`,
  )
}
