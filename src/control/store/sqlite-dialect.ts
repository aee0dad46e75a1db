import type { Dialect } from './dialect.js'
import { sql } from './sql.js'

/** The SQL of SQLite. */
export const sqlite: Dialect = {
  // Columns of addresses are COLLATE NOCASE.
  isEmail: (column, email) => sql`${column} = ${email}`,
}
