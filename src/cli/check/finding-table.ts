export type FindingLevel = 'error' | 'warning' | 'info'

/** One result of `das dataset check`, as `--json` prints it. */
export interface Finding {
  readonly code: FindingCode
  readonly level: FindingLevel
  readonly message: string
}

export type FindingCode = keyof typeof findingLevels

/**
 * The level of every finding of `das dataset check`; docs/dataset-check.md says what each means. An
 * error keeps a dataset from being served, a warning needs attention, an info needs none.
 */
export const findingLevels = {
  refused: 'error',
  delivery_refused: 'error',
  stored_damaged: 'error',
  unfinished: 'warning',
  no_rows: 'warning',
  no_key: 'warning',
  no_plans: 'warning',
  granted_plan_missing: 'warning',
  granted_dataset_missing: 'warning',
  demo_without_token: 'warning',
  demo_empty: 'warning',
  link_broken: 'warning',
  history_empty: 'warning',
  history_odd: 'warning',
  portal: 'warning',
  columns_missing: 'warning',
  float_widened: 'warning',
  rounded_by_readers: 'warning',
  name_not_ascii: 'warning',
  nanoseconds_cut: 'warning',
  old_calendar: 'warning',
  keys_between_files: 'warning',
  not_finite: 'warning',
  key_empty: 'warning',
  nullable_unproven: 'warning',
  layout_slow: 'warning',
  pack_advised: 'info',
  no_time_zone: 'info',
  decimal_wide: 'info',
  name_parameter: 'info',
  column_empty: 'info',
  no_changes: 'info',
  no_description: 'info',
} as const satisfies Readonly<Record<string, FindingLevel>>

/** A finding at the level of its code. */
export function finding(code: FindingCode, message: string): Finding {
  return { code, level: findingLevels[code], message }
}
