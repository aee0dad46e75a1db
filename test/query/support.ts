import type { Access } from '../../src/access/access.js'
import { plainColumn } from '../../src/catalog/column.js'
import type { Column } from '../../src/catalog/column.js'
import type { DataType, ScalarName } from '../../src/catalog/data-type.js'
import type { Dataset } from '../../src/catalog/dataset.js'
import type { Plan } from '../../src/catalog/registry.js'
import type { Version } from '../../src/catalog/version.js'

/** A column of a scalar type, or of any. */
export function column(name: string, type: ScalarName | DataType): Column {
  return plainColumn(name, typeof type === 'string' ? { kind: 'scalar', name: type } : type)
}

export const columns = {
  inn: column('inn', 'VARCHAR'),
  year: column('year', 'INTEGER'),
  price: column('price', { kind: 'decimal', width: 18, scale: 2 }),
  share: column('share', 'DOUBLE'),
  day: column('day', 'DATE'),
  flag: column('flag', 'BOOLEAN'),
  tags: column('tags', { kind: 'list', element: { kind: 'scalar', name: 'INTEGER' } }),
  secret: { ...column('secret', 'INTEGER'), hidden: true },
} as const

const plan: Plan = {
  name: 'pro',
  rowsPerMonth: 1000,
  history: 'all',
  priceRub: 0,
  ratePerMinute: 60,
}

/** An access to a dataset `things` without files: questions are read without any. */
export function accessTo(
  dataset: Partial<Dataset> = {},
  version: Partial<Version> = {},
  access: Partial<Access> = {},
): Access {
  const all = version.columns ?? Object.values(columns)
  const whole: Version = {
    id: '0123456789abcdef',
    dataset: 'things',
    files: [],
    columns: all,
    key: [],
    history: null,
    newestHistory: undefined,
    rows: 0,
    bytes: 0,
    modifiedMs: 0,
    ...version,
  }
  return {
    dataset: {
      name: 'things',
      title: 'Things',
      description: null,
      source: null,
      listed: false,
      limit: { default: 100, max: 1000 },
      requireFilter: false,
      timeoutMs: 10_000,
      plans: new Map(),
      demo: null,
      version: whole,
      reason: null,
      ...dataset,
    },
    version: whole,
    plan,
    predicates: [],
    columns: all.filter((each) => !each.hidden),
    key: '',
    ...access,
  }
}
