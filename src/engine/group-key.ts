/** What rows are grouped by, and how it is served. */
export interface GroupKey {
  /** SQL over the column; keys have the order of the groups. */
  readonly key: string
  /** SQL over the key, in the type of the group's result column. */
  readonly served: (key: string) => string
}
