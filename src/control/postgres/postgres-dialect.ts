import type { Dialect } from '../store/dialect.js'
import { sql } from '../store/sql.js'

/** The SQL of PostgreSQL. */
export const postgres: Dialect = {
  // In the collation "C", lower() knows ASCII letters only.
  isEmail: (column, email) => sql`lower(${column}) = lower(CAST(${email} AS TEXT) COLLATE "C")`,
}
