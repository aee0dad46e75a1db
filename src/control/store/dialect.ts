import type { Sql } from './sql.js'

/** What a database says differently from the other; statements have everything else in common. */
export interface Dialect {
  /** True for an address that differs from this one at most in the case of ASCII letters. */
  readonly isEmail: (column: Sql, email: string) => Sql
}
