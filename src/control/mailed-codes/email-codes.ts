import type { Language } from '../../config.js'
import type { Random } from '../../random.js'
import type { ControlStore } from '../store/store.js'
import { randomBase62 } from '../tokens/base62.js'

/** What a code lets its reader do. */
export type CodePurpose = 'order' | 'lost-token' | 'reissue' | 'connect'

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

const columns = `id AS codeId, purpose, email, language, hash, subject, created_at AS createdAt,
  wrong_tries AS wrongTries, used_at AS usedAt`

/** An id that can't be guessed: 190 random bits. */
export function createCodeId(random: Random): string {
  return randomBase62(random, idLength)
}

/** Whether a text that a client sent can be an id: PostgreSQL refuses some texts as values. */
export function isCodeId(text: string): boolean {
  return text.length === idLength && /^[0-9A-Za-z]+$/.test(text)
}

/** Codes made since a time: all, those of an address, and those for a network. */
export interface CodeCounts {
  readonly all: number
  readonly ofEmail: number
  readonly ofNetwork: number
}

/** How many codes were made since a time; `network` is a keyed hash. */
export async function countCodes(
  store: ControlStore,
  { email, network, since }: { email: string; network: Uint8Array; since: number },
): Promise<CodeCounts> {
  const [counts] = await store.all<CodeCounts>(
    `SELECT
       (SELECT count(*) FROM email_codes WHERE created_at > @since) AS "all",
       (SELECT count(*) FROM email_codes WHERE email = @email AND created_at > @since) AS ofEmail,
       (SELECT count(*) FROM email_codes WHERE network = @network AND created_at > @since)
         AS ofNetwork`,
    { email, network, since },
  )
  return counts ?? { all: 0, ofEmail: 0, ofNetwork: 0 }
}

/** Stores a code's hash, in the caller's transaction. */
export async function insertCode(
  store: ControlStore,
  code: Omit<EmailCode, 'wrongTries' | 'usedAt'> & {
    /** A keyed hash of the client's network. */
    readonly network: Uint8Array
  },
): Promise<void> {
  await store.run(
    `INSERT INTO email_codes (id, purpose, email, language, network, hash, subject, created_at)
     VALUES (@codeId, @purpose, @email, @language, @network, @hash, @subject, @createdAt)`,
    { ...code },
  )
}

/** The code with this id; undefined when it is unknown or was removed. */
export async function findCode(
  store: ControlStore,
  codeId: string,
): Promise<EmailCode | undefined> {
  const [code] = await store.all<EmailCode>(
    `SELECT ${columns} FROM email_codes WHERE id = @codeId`,
    {
      codeId,
    },
  )
  return code
}

/** Counts a wrong try. */
export async function noteWrongTry(store: ControlStore, codeId: string): Promise<void> {
  await store.run('UPDATE email_codes SET wrong_tries = wrong_tries + 1 WHERE id = @codeId', {
    codeId,
  })
}

/** Marks a code as used: it is accepted once. */
export async function noteUse(store: ControlStore, codeId: string, now: number): Promise<void> {
  await store.run('UPDATE email_codes SET used_at = @now WHERE id = @codeId', { codeId, now })
}

/** Removes codes made at or before this time, with their letters; returns how many. */
export function removeCodes(store: ControlStore, until: number): Promise<number> {
  return store.run('DELETE FROM email_codes WHERE created_at <= @until', { until })
}
