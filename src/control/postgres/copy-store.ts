import { sql, sqlList, sqlText } from '../store/sql.js'
import type { Sql, SqlValue } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { copyKeys } from '../keys.js'
import type { KeyName } from '../keys.js'
import type { PostgresStore } from './postgres-store.js'

/** A table of the control store, as it is copied. */
interface CopiedTable {
  readonly name: string
  /** The primary key, by which rows are read in order. */
  readonly key: readonly string[]
}

/** All tables, each after those that it refers to. */
export const copiedTables: readonly CopiedTable[] = [
  { name: 'subscribers', key: ['id'] },
  { name: 'subscriptions', key: ['id'] },
  { name: 'grants', key: ['subscription_id', 'dataset'] },
  { name: 'tokens', key: ['id'] },
  { name: 'usage', key: ['subscription_id', 'period', 'dataset'] },
  { name: 'orders', key: ['id'] },
  { name: 'receipt_numbers', key: ['year'] },
  { name: 'payments', key: ['id'] },
  { name: 'order_links', key: ['hash'] },
  { name: 'email_codes', key: ['id'] },
  { name: 'connections', key: ['id'] },
  { name: 'connection_secrets', key: ['hash'] },
  { name: 'letters', key: ['id'] },
  { name: 'sessions', key: ['id'] },
  { name: 'session_secrets', key: ['hash'] },
  { name: 'watch_lists', key: ['subscription_id', 'name'] },
  { name: 'webhooks', key: ['id'] },
  { name: 'events', key: ['id'] },
  { name: 'deliveries', key: ['webhook_id', 'n'] },
  { name: 'dataset_state', key: ['dataset'] },
  { name: 'dataset_versions', key: ['dataset', 'number'] },
  { name: 'registry_state', key: ['id'] },
  { name: 'reloads', key: ['id'] },
  { name: 'refusals', key: ['day', 'code'] },
  { name: 'audit', key: ['id'] },
]

/** Called for each table when its rows were copied, and compared. */
export type CopyReport = (table: string, rows: number) => void

type Row = Readonly<Record<string, SqlValue>>

/** A column in PostgreSQL: what it holds, and whether a sequence numbers its rows. */
interface Column {
  readonly name: string
  readonly type: 'bigint' | 'text' | 'bytea'
  readonly isNumbered: boolean
}

const pageRows = 1000

/**
 * Copies the whole control store of a file into an empty PostgreSQL, with all ids, and the keys of
 * its folder, in one transaction; compares both row by row. Resolves to the keys' names.
 * Other processes can't write to the file meanwhile,
 * so `from` must be open to write.
 *
 * @throws Error, for the operator, when the target holds anything, when the tables don't match, or
 *   when a row differs after the copy; then nothing is copied
 */
export async function copyStore(
  from: ControlStore,
  to: PostgresStore,
  keysFolder: string,
  report: CopyReport = () => {},
): Promise<readonly KeyName[]> {
  await to.ready()
  return await from.write((source) =>
    to.write(async (target) => {
      await requireTables(source, target)
      for (const table of copiedTables) await requireEmpty(target, table)
      for (const table of copiedTables) {
        const columns = await columnsOf(source, target, table)
        await copyTable(source, target, table, columns)
        report(table.name, await compareTable(source, target, table, columns))
        await moveSequences(target, table, columns)
      }
      await copyNewestAction(source, target)
      return await copyKeys(keysFolder, target)
    }),
  )
}

/** A table that a newer release added must not be left out. */
async function requireTables(source: ControlStore, target: ControlStore): Promise<void> {
  const stored = await source.all<{ name: string }>(
    sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'`,
  )
  const made = await target.all<{ name: string }>(
    sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()
       AND tablename NOT IN ('schema_version', 'audit_newest', 'keys', 'rate_windows')`,
  )
  const known = sorted(copiedTables)
  for (const tables of [stored, made].map(sorted)) {
    if (tables !== known) throw new Error(`the tables to copy are ${known}, found ${tables}`)
  }
}

function sorted(named: readonly { readonly name: string }[]): string {
  return named
    .map(({ name }) => name)
    .sort()
    .join(', ')
}

async function requireEmpty(target: ControlStore, { name }: CopiedTable): Promise<void> {
  if ((await target.all(sql`SELECT 1 FROM ${sqlText(name)} LIMIT 1`)).length === 0) return
  throw new Error(`the PostgreSQL holds ${name} already: copy into an empty schema`)
}

async function columnsOf(
  source: ControlStore,
  target: ControlStore,
  { name: table }: CopiedTable,
): Promise<readonly Column[]> {
  const columns = await target.all<Omit<Column, 'isNumbered'> & { identity: string }>(
    sql`SELECT column_name::text AS name, data_type::text AS type, is_identity::text AS identity
     FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = ${table} ORDER BY ordinal_position`,
  )
  const stored = await source.all<{ name: string }>(
    sql`SELECT name FROM pragma_table_info(${table})`,
  )
  // SQLite has this column in every table, without a declaration.
  const declared = columns.filter(({ name }) => name !== 'rowid')
  if (sorted(stored) !== sorted(declared)) {
    throw new Error(`${table} has the columns ${sorted(stored)}, expected ${sorted(declared)}`)
  }
  return columns.map(({ name, type, identity }) => ({
    name,
    type,
    isNumbered: identity === 'YES',
  }))
}

async function copyTable(
  source: ControlStore,
  target: ControlStore,
  table: CopiedTable,
  columns: readonly Column[],
): Promise<void> {
  const names = namesOf(columns)
  const values = columns.map(({ name, type }) =>
    type === 'bytea' ? `decode(${name}, 'hex')` : name,
  )
  const declared = columns.map(({ name, type }) => `${name} ${type === 'bytea' ? 'text' : type}`)
  for await (const page of pages(source, table, columns)) {
    const json = JSON.stringify(page.map(plain))
    await target.run(
      sql`INSERT INTO ${sqlText(table.name)} (${names}) SELECT ${sqlText(values.join(', '))}
       FROM json_to_recordset(${json}::json) AS page (${sqlText(declared.join(', '))})`,
    )
  }
}

/** Returns the number of rows. @throws Error when a row is missing, differs or is too much */
async function compareTable(
  source: ControlStore,
  target: ControlStore,
  table: CopiedTable,
  columns: readonly Column[],
): Promise<number> {
  const copied = pages(target, table, columns)
  let rows = 0
  for await (const page of pages(source, table, columns)) {
    const other = (await copied.next()).value
    if (JSON.stringify(page.map(plain)) !== JSON.stringify(other?.map(plain))) {
      throw new Error(`${table.name} differs after row ${rows} of the copy: nothing was copied`)
    }
    rows += page.length
  }
  if ((await copied.next()).done) return rows
  throw new Error(`${table.name} has more than ${rows} rows in the copy: nothing was copied`)
}

/** The rows of a table by its key, which both databases sort by bytes. */
async function* pages(
  store: ControlStore,
  { name, key }: CopiedTable,
  columns: readonly Column[],
): AsyncGenerator<readonly Row[], undefined> {
  const select = sql`SELECT ${namesOf(columns)} FROM ${sqlText(name)}`
  const keys = sqlText(key.join(', '))
  const order = sql`ORDER BY ${keys} LIMIT ${pageRows}`
  let page = await store.all<Row>(sql`${select} ${order}`)
  while (page.length > 0) {
    yield page
    const last = page.at(-1) ?? {}
    const values = sqlList(key.map((column) => last[column] ?? null))
    page = await store.all<Row>(sql`${select} WHERE (${keys}) > (${values}) ${order}`)
  }
}

function namesOf(columns: readonly Column[]): Sql {
  return sqlText(columns.map(({ name }) => name).join(', '))
}

/** Bytes as hexadecimal digits; names in the order of the columns. */
function plain(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    ]),
  )
}

/** The next row gets the next number. */
async function moveSequences(
  target: ControlStore,
  { name: table }: CopiedTable,
  columns: readonly Column[],
): Promise<void> {
  for (const { name } of columns.filter(({ isNumbered }) => isNumbered)) {
    await target.all(
      sqlText(`SELECT setval(pg_get_serial_sequence('${table}', '${name}'),
         coalesce(max(${name}), 0) + 1, false) FROM ${table}`),
    )
  }
}

/** An id of the audit trail is never used again, also if its rows were removed by other means. */
async function copyNewestAction(source: ControlStore, target: ControlStore): Promise<void> {
  const [newest] = await source.all<{ id: number }>(
    sql`SELECT seq AS id FROM sqlite_sequence WHERE name = 'audit'`,
  )
  await target.run(sql`UPDATE audit_newest SET id = greatest(id, ${newest?.id ?? 0})`)
}
