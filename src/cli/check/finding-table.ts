export type FindingLevel = 'error' | 'warning' | 'info'

/** One result of `das dataset check`, as `--json` prints it. */
export interface Finding {
  readonly code: FindingCode
  readonly level: FindingLevel
  readonly message: string
}

export type FindingCode = keyof typeof findingTable

/**
 * Every finding of `das dataset check`; docs/dataset-check.md lists the same. An error keeps a
 * dataset from being served, a warning needs attention, an info needs none.
 */
export const findingTable = {
  refused: {
    level: 'error',
    meaning: 'A file or the registry has a mistake that keeps the dataset from being served.',
  },
  delivery_refused: {
    level: 'error',
    meaning:
      'The files would take away what is served: a running server goes on with the old ones.',
  },
  damaged: {
    level: 'error',
    meaning: "A part of a file can't be read; `--deep` reads every part.",
  },
  stored_damaged: {
    level: 'error',
    meaning: 'A file in the state folder differs from the file that was published (`--deep`).',
  },
  unfinished: {
    level: 'warning',
    meaning: 'The files were opened, but reading their values failed.',
  },
  no_rows: { level: 'warning', meaning: 'The files have no rows.' },
  no_key: {
    level: 'warning',
    meaning: 'There are several files and no key: every look-up reads all files.',
  },
  no_plans: { level: 'warning', meaning: 'The dataset has no plans, so it cannot be sold.' },
  granted_plan_missing: {
    level: 'warning',
    meaning: 'Live subscriptions have a plan that the registry does not list.',
  },
  granted_dataset_missing: {
    level: 'warning',
    meaning: 'Live subscriptions have a dataset that the registry does not list.',
  },
  demo_without_token: {
    level: 'warning',
    meaning: 'There is a demo subset, but the registry has no demo token.',
  },
  demo_empty: { level: 'warning', meaning: 'The demo subset has no rows.' },
  history_empty: {
    level: 'warning',
    meaning: 'Plans count years in a column without values.',
  },
  history_odd: {
    level: 'warning',
    meaning: 'The history column has implausible years, such as 0 or 9999.',
  },
  columns_missing: {
    level: 'warning',
    meaning: 'Some files lack a column that others have: callers get null for it.',
  },
  float_widened: {
    level: 'warning',
    meaning: 'FLOAT values are served as DOUBLE: 0.1 becomes 0.10000000149011612.',
  },
  rounded_by_readers: {
    level: 'warning',
    meaning: 'JavaScript and Excel round these numbers; serve them with `json: string`.',
  },
  name_not_ascii: {
    level: 'warning',
    meaning: 'A name has letters beyond ASCII, of which some client generators make no program.',
  },
  nanoseconds_cut: {
    level: 'warning',
    meaning: 'Timestamps with a zone, or as INT96, have nanoseconds: microseconds are read.',
  },
  old_calendar: {
    level: 'warning',
    meaning: 'Days before 1582 or times before 1900 are in the calendar of old Spark or Hive.',
  },
  keys_between_files: {
    level: 'warning',
    meaning: 'Files have rows with the same key and history value: one may correct the other.',
  },
  not_finite: {
    level: 'warning',
    meaning: 'NaN and infinite values: callers get null.',
  },
  key_empty: {
    level: 'warning',
    meaning: 'Rows have no value in a key column: no look-up finds them.',
  },
  layout_slow: {
    level: 'warning',
    meaning: 'Row groups are so small that summaries are slow.',
  },
  pack_advised: {
    level: 'info',
    meaning: 'With `pack: off`, look-ups read the files; the message says what makes them fast.',
  },
  no_time_zone: {
    level: 'info',
    meaning: 'Timestamps have no time zone and are served without `Z`.',
  },
  decimal_wide: {
    level: 'info',
    meaning: 'DECIMALs of more than 15 digits: readers may round a longer value of a later file.',
  },
  name_parameter: {
    level: 'info',
    meaning: 'A parameter of aggregates or `top` has the name of a column: POST and MCP reach it.',
  },
  column_empty: { level: 'info', meaning: 'A column has no values.' },
  no_description: { level: 'info', meaning: 'The dictionary does not describe some columns.' },
} as const satisfies Record<string, { readonly level: FindingLevel; readonly meaning: string }>

/** A finding at the level of its code. */
export function finding(code: FindingCode, message: string): Finding {
  return { code, level: findingTable[code].level, message }
}
