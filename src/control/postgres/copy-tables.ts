/** A table of the control store, as it is copied. */
export interface CopiedTable {
  readonly name: string
  /** The primary key, by which rows are read in order. */
  readonly key: readonly string[]
}

/** All tables, each after those that it refers to. */
export const copiedTables: readonly CopiedTable[] = [
  { name: 'subscribers', key: ['id'] },
  { name: 'subscriptions', key: ['id'] },
  { name: 'grants', key: ['subscription_id', 'dataset'] },
  { name: 'tokens', key: ['id'] },
  { name: 'usage', key: ['subscription_id', 'period', 'dataset'] },
  { name: 'orders', key: ['id'] },
  { name: 'payments', key: ['id'] },
  { name: 'email_codes', key: ['id'] },
  { name: 'connections', key: ['id'] },
  { name: 'connection_secrets', key: ['hash'] },
  { name: 'letters', key: ['id'] },
  { name: 'dataset_state', key: ['dataset'] },
  { name: 'registry_state', key: ['id'] },
  { name: 'reloads', key: ['id'] },
  { name: 'audit', key: ['id'] },
]
