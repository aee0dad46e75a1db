import { createHash } from 'node:crypto'
import pg from 'pg'

export interface ConnectionOptions {
  /** The schema that holds the tables; that of the URL when left out, else `das`. */
  readonly schema?: string
  /** Connections at most. */
  readonly size?: number
  /** How long a statement may take, also while it waits for a lock. */
  readonly statementTimeoutMs?: number
}

const schemaDefault = 'das'
export const statementTimeoutMsDefault = 5000

/** How long a caller waits for a connection. */
const connectTimeoutMs = 2000

/** A server that does not answer at all: its own limit comes first. */
const answerTimeoutMs = 2000

/** A transaction whose server fell silent gives its locks back after this time. */
const idleTransactionMs = 15_000

/**
 * The settings of every connection. Tables are found in one schema only; a commit is on the disk
 * when it is answered.
 *
 * @throws Error, for the operator, when this is not the URL of a PostgreSQL; it does not show it
 */
export function connectionSettings(url: string, options: ConnectionOptions): pg.PoolConfig {
  const { statementTimeoutMs = statementTimeoutMsDefault } = options
  return {
    connectionString: withOptions(url, schemaOf(url, options)),
    application_name: 'das',
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + answerTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionMs,
    keepAlive: true,
    types: { getTypeParser },
  }
}

/**
 * The schema that holds the tables: `?schema=` of the URL names it.
 * @throws Error, for the operator, when this can't be the name of a schema
 */
export function schemaOf(url: string, options: ConnectionOptions): string {
  const schema = options.schema ?? parse(url).searchParams.get('schema') ?? schemaDefault
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema) && !schema.startsWith('pg_')) return schema
  throw new Error('the schema of PostgreSQL must be a name of a-z, 0-9 and _')
}

/** The key of an advisory lock: the same for all servers of a schema, as PostgreSQL writes it. */
export function lockKey(schema: string, name: string): string {
  const hash = createHash('sha256').update(`das ${schema} ${name}`).digest()
  return hash.readBigInt64BE().toString()
}

function withOptions(url: string, schema: string): string {
  const parsed = parse(url)
  const options = [
    parsed.searchParams.get('options') ?? '',
    `-c search_path=${schema}`,
    '-c synchronous_commit=on',
    // A server whose machine died keeps its locks for about ten seconds.
    '-c tcp_keepalives_idle=4 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3',
  ]
  parsed.searchParams.delete('schema')
  parsed.searchParams.set('options', options.join(' ').trim())
  return parsed.href
}

/** The parser's own error shows the text, and with it a password. */
function parse(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed && /^postgres(ql)?:$/.test(parsed.protocol)) return parsed
  throw new Error(
    'this is not the URL of a PostgreSQL: postgres://user:password@host:5432/database',
  )
}

const getTypeParser: pg.CustomTypesConfig['getTypeParser'] = (oid, format) =>
  oid === pg.types.builtins.INT8 && format !== 'binary'
    ? safeInteger
    : (pg.types.getTypeParser(oid, format) as (value: string) => unknown)

/** @throws RangeError for a number that JavaScript would round */
function safeInteger(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw new RangeError('the database holds a number beyond 2^53')
}
