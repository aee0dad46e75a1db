import { examineDatabase } from '../control/postgres/examine-database.js'
import type { DatabaseFacts } from '../control/postgres/examine-database.js'
import { PostgresStore } from '../control/postgres/postgres-store.js'
import type { ControlStore } from '../control/store/store.js'
import { ServiceError } from '../errors.js'
import type { CliParts } from './parts.js'
import type { FailureRule } from './state-failure.js'

/**
 * Runs `work` over the control store in a PostgreSQL, whose schema is brought to this release.
 * The user is for the audit trail.
 *
 * @throws Error, for the operator, without URL, host, user and password, when it can't be used
 */
export async function withDatabase<T>(
  { user, clock, random }: Pick<CliParts, 'user' | 'clock' | 'random'>,
  url: string,
  work: (store: ControlStore) => T | Promise<T>,
): Promise<T> {
  const store = new PostgresStore(url, { actor: user, clock, random })
  try {
    await store.ready().catch((cause: unknown) => {
      throw databaseFailure(cause)
    })
    return await work(store)
  } catch (cause) {
    throw cause instanceof ServiceError ? databaseFailure(cause) : cause
  } finally {
    await store.close()
  }
}

/**
 * Asks a PostgreSQL about itself, and changes nothing.
 * @throws Error, for the operator, when it can't be used
 */
export async function examine(url: string, now: () => number): Promise<DatabaseFacts> {
  return await examineDatabase(url, now).catch((cause: unknown) => {
    throw databaseFailure(cause)
  })
}

/** Texts for error codes of the system and of PostgreSQL; the first rule that matches counts. */
const rules: readonly FailureRule[] = [
  {
    codes: /^(ECONNREFUSED|ENOENT)$/,
    text: 'no server accepts connections at its address. Start it, or correct the address',
  },
  {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    text: 'the name of its machine is not known here. Correct it, or the DNS',
  },
  {
    codes: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/,
    text: 'its machine does not answer. Check the network and its firewall',
  },
  { codes: /^28/, text: 'it refuses this user, its password or its address (pg_hba.conf)' },
  { codes: /^3D000$/, text: 'it has no database of this name. Make it with createdb' },
  {
    codes: /^42501$/,
    text: 'this user may not do that. Make it the owner of the database or of the schema das',
  },
  { codes: /^53300$/, text: 'it has no free connection. Raise max_connections' },
  { codes: /^53/, text: 'its disk or its memory is full' },
  { codes: /^25006$/, text: 'it is a standby, or read-only. Name the primary' },
  { codes: /^57P0/, text: 'it is starting or stopping. Try again' },
  { codes: /^(55P03|57014|40)/, text: 'others keep its tables locked. Try again' },
  {
    codes: /CERT|SELF_SIGNED|^ERR_(TLS|SSL)|SIGNATURE/,
    text: 'its certificate is not trusted here. NODE_EXTRA_CA_CERTS names a private authority',
  },
]

const silent =
  'it does not answer, or ended the connection. Check that it runs and is not overloaded'

/**
 * Explains what the driver reported. Its own texts name hosts and users, so only their codes are
 * shown; errors without a cause in the database stay as they are.
 */
export function databaseFailure(cause: unknown): unknown {
  const isOfStore = cause instanceof ServiceError && cause.code === 'service_unavailable'
  const code = codeOf(isOfStore ? cause.cause : cause)
  if ((code === undefined && !isOfStore) || code?.startsWith('SQLITE_')) return cause
  const known = rules.find(({ codes }) => code !== undefined && codes.test(code))
  const why = known?.text ?? (code === undefined ? silent : 'it reports an error')
  const shown = code === undefined ? '' : ` (${code})`
  return new Error(`The PostgreSQL can't be used: ${why}${shown}.`, { cause })
}

/** A SQLSTATE, or a code of the system; of several attempts to connect, that of the first. */
function codeOf(found: unknown): string | undefined {
  const failure: unknown = found instanceof AggregateError ? found.errors[0] : found
  const code: unknown = failure instanceof Error && 'code' in failure ? failure.code : undefined
  return typeof code === 'string' && /^\w+$/.test(code) ? code : undefined
}
