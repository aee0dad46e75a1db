/** What a database says differently of the tables that the store has in both. */
export interface SchemaWords {
  readonly integer: string
  readonly text: string
  readonly bytes: string
  /** A key that the database numbers. */
  readonly id: string
  /** The type of an address. */
  readonly email: string
  /** An address in an index, whatever the case of its ASCII letters. */
  readonly emailKey: string
  /** A text in this column that holds JSON. */
  readonly json: (column: string) => string
  /** How many members the JSON list in a text has. */
  readonly listLength: (column: string) => string
  /** True for a `period` such as 2026-11. */
  readonly isMonth: string
  /** The calendar year, UTC, of a time. */
  readonly yearOf: (column: string) => string
  /** The id of an order for agreement `a`. */
  readonly orderId: string
  /** Drops the check of the purposes of codes: the purposes are in email-codes.ts. */
  readonly anyPurpose: string
  /** Ends a table. */
  readonly end: string
  /** Ends a table that has no row numbers beside its key. */
  readonly keyed: string
}
