export type FindingLevel = 'error' | 'warning' | 'info'

/** Something to know of a dataset (contract 4, `dataset check --json`). */
export interface Finding {
  readonly code: FindingCode
  readonly level: FindingLevel
  readonly message: string
}

export type FindingCode = keyof typeof findingTable

/**
 * Every finding of `das dataset check`; documentation is made from this table. An error keeps a
 * dataset from being served, a warning should be looked at, the rest is good to know.
 */
export const findingTable = {
  refused: {
    level: 'error',
    meaning: 'A file or the registry has a mistake that keeps the dataset from being served.',
  },
  name_clash: {
    level: 'error',
    meaning: 'Two columns have the same name, or names that differ in case only.',
  },
  name_reserved: {
    level: 'error',
    meaning: 'A column has the name of a request parameter, or one that the engine uses.',
  },
  types_clash: {
    level: 'error',
    meaning: 'A column has types in two files that no type holds both without loss.',
  },
  damaged: {
    level: 'error',
    meaning: "A part of a file can't be read; `--deep` reads every part.",
  },
  stored_damaged: {
    level: 'error',
    meaning: 'A file that the server serves from is not what it was published with (`--deep`).',
  },
  unfinished: {
    level: 'warning',
    meaning: 'The files were opened, but looking into them failed.',
  },
  no_rows: { level: 'warning', meaning: 'The files hold no row.' },
  no_key: { level: 'warning', meaning: 'Several files and no key: every look-up reads them all.' },
  no_plans: { level: 'warning', meaning: 'Nobody can subscribe to the dataset.' },
  granted_plan_missing: {
    level: 'warning',
    meaning: 'Live subscriptions have a plan that the registry lacks.',
  },
  granted_dataset_missing: {
    level: 'warning',
    meaning: 'Live subscriptions have a dataset that the registry lacks.',
  },
  demo_without_token: {
    level: 'warning',
    meaning: 'There is a demo subset and no demo token in the registry.',
  },
  demo_empty: { level: 'warning', meaning: 'The demo subset has no row.' },
  history_empty: {
    level: 'warning',
    meaning: 'Plans count years in a column that holds no value.',
  },
  history_odd: {
    level: 'warning',
    meaning: "The history column holds years that can't be meant, such as 0 or 9999.",
  },
  columns_missing: {
    level: 'warning',
    meaning: 'Some files lack a column that others have: callers get null there.',
  },
  float_widened: {
    level: 'warning',
    meaning: 'FLOAT in one file, DOUBLE in all: 0.1 is served as 0.10000000149011612.',
  },
  rounded_by_readers: {
    level: 'warning',
    meaning: 'Numbers that JavaScript and Excel round; cure: `json: string`.',
  },
  nanoseconds_cut: {
    level: 'warning',
    meaning: 'Timestamps with a zone in nanoseconds: DuckDB reads microseconds of them.',
  },
  not_finite: {
    level: 'warning',
    meaning: 'NaN or infinite values, which callers get as null.',
  },
  key_empty: {
    level: 'warning',
    meaning: 'Rows without a value in a key column: no look-up finds them.',
  },
  layout_unsorted: {
    level: 'warning',
    meaning: 'Files are not sorted by the first key column: a look-up reads most of them.',
  },
  layout_overlap: {
    level: 'warning',
    meaning: 'Files overlap in the first key column: a look-up opens several of them.',
  },
  row_groups_large: {
    level: 'warning',
    meaning: 'Row groups have more than 200,000 rows on average: a look-up reads too much.',
  },
  row_groups_small: {
    level: 'warning',
    meaning: 'Row groups have less than 2,000 rows on average: opening them takes too long.',
  },
  files_small: {
    level: 'warning',
    meaning: 'More than 1,000 files of less than 10,000 rows on average.',
  },
  no_statistics: {
    level: 'warning',
    meaning: "Footers don't say which values of the first key column a row group holds.",
  },
  pack_advised: { level: 'info', meaning: '`das dataset pack` cures the layout; what it brings.' },
  types_widened: {
    level: 'info',
    meaning: 'A column has several types and is served in one that holds them all.',
  },
  column_order: { level: 'info', meaning: 'Files have the same columns in another order.' },
  no_time_zone: { level: 'info', meaning: 'Timestamps without a zone, served without `Z`.' },
  key_shared: { level: 'info', meaning: 'Several rows have the same key: a look-up gives all.' },
  column_empty: { level: 'info', meaning: 'A column has no value in any row.' },
  column_constant: {
    level: 'info',
    meaning: 'A column has the same value wherever it has one (`--deep`).',
  },
  no_description: { level: 'info', meaning: 'Columns of which the dictionary says nothing.' },
  demo_rows: { level: 'info', meaning: 'How many rows the demo subset has (`--deep`).' },
} as const satisfies Record<string, { readonly level: FindingLevel; readonly meaning: string }>

/** A finding at the level that its code always has. */
export function finding(code: FindingCode, message: string): Finding {
  return { code, level: findingTable[code].level, message }
}

const namesMax = 5

/** Names as people read them: `"a", "b" and 3 more`. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesMax)
  const more = names.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more`
  const last = shown.at(-1) ?? ''
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`
}

/** `1 row`, `2 rows`. */
export function many(amount: number, word: string): string {
  return `${amount} ${word}${amount === 1 ? '' : 's'}`
}
