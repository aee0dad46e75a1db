import type { Sql } from './sql.js'
import type { TrinoRow } from './trino-client.js'

/** Runs one statement and returns its rows. */
export type RunTrino = (statement: Sql) => Promise<readonly TrinoRow[]>
