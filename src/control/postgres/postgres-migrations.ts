import { laterSteps } from '../store/later-steps.js'
import { lockKey } from './connection-settings.js'
import type { Connection } from './postgres-pool.js'
import { firstStep, words } from './postgres-tables.js'

/** The steps of the schema in PostgreSQL; step N (counted from 1) takes version N-1 to N. */
export const postgresMigrations: readonly string[] = [firstStep, ...laterSteps(words)]

/** The version that this release writes and reads. */
export const postgresSchemaVersion = postgresMigrations.length

/** An upgrade may rewrite tables, and others wait until it is done. */
const upgradeTimeoutMs = 600_000

/**
 * Applies the missing steps in one transaction, under a lock: an upgrade that fails changes
 * nothing, and of several servers that start together one upgrades. A schema of this release is
 * only read.
 *
 * @throws Error, for the operator, when the schema is newer than `migrations`; service_unavailable
 */
export async function migratePostgres(
  connection: Connection,
  schema: string,
  migrations: readonly string[] = postgresMigrations,
): Promise<void> {
  if ((await versionOf(connection)) < migrations.length) {
    await upgrade(connection, schema, migrations)
  }
  refuseNewer(await versionOf(connection), schema, migrations.length)
}

async function upgrade(
  connection: Connection,
  schema: string,
  migrations: readonly string[],
): Promise<void> {
  const execute = (text: string) =>
    connection.query({ text, query_timeout: upgradeTimeoutMs + 1000 })
  await execute(`BEGIN; SET LOCAL statement_timeout = ${upgradeTimeoutMs}`)
  try {
    await execute(`SELECT pg_advisory_xact_lock(${lockKey(schema, 'write')})`)
    // Read again under the lock: another server may have upgraded it.
    const version = await versionOf(connection)
    if (version < migrations.length) {
      if (version === 0) await execute(firstTable(schema))
      for (const step of migrations.slice(version)) await execute(step)
      await execute(`UPDATE schema_version SET version = ${migrations.length}`)
    }
    await execute('COMMIT')
  } catch (cause) {
    // Ends the connection, which rolls back.
    connection.break(cause)
    throw cause
  }
}

/** A schema that an administrator made needs no right to make one. */
function firstTable(schema: string): string {
  return `
    DO $$ BEGIN
      IF to_regnamespace('${schema}') IS NULL THEN
        CREATE SCHEMA ${schema};
      END IF;
    END $$;
    CREATE TABLE schema_version (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      version bigint NOT NULL
    );
    INSERT INTO schema_version (version) VALUES (0)`
}

/** The version of the schema; 0 when it has none. */
export async function versionOf(connection: Connection): Promise<number> {
  const table = await connection.query({
    text: `SELECT FROM pg_tables
      WHERE schemaname = current_schema() AND tablename = 'schema_version'`,
  })
  if (table.rowCount === 0) return 0
  const { rows } = await connection.query({ text: 'SELECT version FROM schema_version' })
  return Number((rows[0] as { readonly version?: number } | undefined)?.version ?? 0)
}

function refuseNewer(version: number, schema: string, versionMax: number): void {
  if (version <= versionMax) return
  throw new Error(
    `the schema ${schema} of PostgreSQL was written by a newer release: it is version ` +
      `${version}, this release knows versions up to ${versionMax}. Run the newer release, or ` +
      `restore an older backup.`,
  )
}
