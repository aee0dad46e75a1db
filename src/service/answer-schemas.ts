import Type from 'typebox'
import type { Static } from 'typebox'
import type { RowBudget } from '../access/allowance.js'
import type { ShownType } from '../columns/column-types.js'
import type { Operator } from '../columns/operators.js'
import type { KeyCheck } from '../columns/tax-number.js'

/**
 * The schemas of the answers that clients rely on (contract 4), for REST, OpenAPI and MCP, and the
 * types of the same answers.
 */
export function nullable<T extends Type.TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** Generated clients read integers without a format as 32 bits, and numbers as single precision. */
const count = Type.Integer({ minimum: 0, format: 'int64' })
const small = Type.Integer({ minimum: 0, format: 'int32' })
const number = { format: 'double' }
const text = Type.String()
const shownType = Type.Unsafe<ShownType>(text)

const names = { name: text, title: text, description: nullable(text) }
const vintage = {
  version: text,
  /** The date of the data, `2025` or `2025-03-31`; null if neither history nor registry has it. */
  as_of: nullable(text),
  /** When the newest file was written, ISO 8601. */
  updated_at: text,
  /** The part of the dataset that this token can see (`scope.ts`); null = all of it. */
  scope: nullable(text),
}

/** A dataset in a list of datasets. */
const DatasetSummarySchema = Type.Object({
  ...names,
  /** The number of rows that this token can see. */
  rows: count,
  columns: small,
  ...vintage,
})

/** A dataset in the list of `GET /v1/`. */
export type DatasetSummary = Static<typeof DatasetSummarySchema>

export const DatasetListSchema = Type.Object({ data: Type.Array(DatasetSummarySchema) })

export const VersionListSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      version: text,
      as_of: nullable(text),
      published_at: text,
      rows: nullable(count),
      previous: nullable(text),
      changes: Type.String({ description: 'ready, pending or none' }),
    }),
  ),
})

const share = Type.Number({ minimum: 0, maximum: 1, ...number })

/** What `facts=true` adds to a column; which fields there are depends on its values. */
const columnFacts = {
  null_share: Type.Optional(share),
  min: Type.Optional(Type.Unknown()),
  max: Type.Optional(Type.Unknown()),
  /** All values, if there are few. */
  values: Type.Optional(Type.Array(Type.Unknown())),
  /** The commonest values, of a column with few values or of codes, the commonest first. */
  common: Type.Optional(
    Type.Array(Type.Object({ value: Type.Unknown(), share, label: Type.Optional(text) })),
  ),
  /** Rows by ranges of numbers or moments; ranges may grow with the distance from zero. */
  histogram: Type.Optional(
    Type.Object({
      /** Ascending: bin `i` lies between the edges `i` and `i + 1` and includes the upper one. */
      edges: Type.Array(Type.Union([Type.Number(number), text])),
      shares: Type.Array(share),
    }),
  ),
}

const ColumnSchema = Type.Object({
  name: text,
  type: shownType,
  nullable: Type.Boolean(),
  label: nullable(text),
  section: nullable(text),
  unit: nullable(text),
  description: nullable(text),
  operators: Type.Array(Type.Unsafe<Operator>(text)),
  check: Type.Optional(
    Type.Unsafe<KeyCheck>(Type.String({ description: 'inn or ogrn: values have check digits' })),
  ),
  /** The group of each level of codes by its name: `{class: "prefix(okved,2)"}`. */
  levels: Type.Optional(Type.Record(Type.String(), text)),
  /** What the levels are called, those that have a label. */
  level_labels: Type.Optional(Type.Record(Type.String(), text)),
  /** The codes have names, which `labels` adds. */
  labels: Type.Optional(Type.Boolean()),
  ...columnFacts,
})

/** Every text is written as in a request. */
const AggregatesSchema = Type.Object({
  /** A group costs this many rows, times the rows that carry as many cells. */
  rows_per_group: small,
  /** For each type of the dataset's columns, in the order of the columns. */
  functions: Type.Array(
    Type.Object({ type: shownType, measures: Type.Array(text), group: Type.Array(text) }),
  ),
  /** The registry's measures. */
  measures: Type.Array(
    Type.Object({
      name: text,
      label: nullable(text),
      /** What it is made of: `ratio(2400/2110)`. */
      formula: text,
      unit: nullable(text),
      description: nullable(text),
    }),
  ),
})

export const DatasetSchema = Type.Object({
  ...names,
  source: nullable(text),
  ...vintage,
  rows: count,
  /** The columns that rows are looked up by, and the one that plans count years in. */
  key: Type.Array(text),
  history: nullable(text),
  require_filter: Type.Boolean(),
  limit: Type.Object({ default: small, max: small }),
  profiled_rows: Type.Optional(nullable(count)),
  caution: Type.Optional(nullable(text)),
  columns: Type.Array(ColumnSchema),
  /** Example paths with a query that work, relative to the service's root. */
  examples: Type.Array(text),
  /** Null if aggregates are switched off. */
  aggregates: nullable(AggregatesSchema),
})

/** A dataset's description for a caller (`GET /v1/<dataset>/schema`), with or without facts. */
export type DatasetDescription = Static<typeof DatasetSchema>
export type ColumnDescription = Static<typeof ColumnSchema>
export type AggregateFacts = Static<typeof AggregatesSchema>
/** The values of a column in the rows of an access. Shares, from 0 to 1, are of all rows. */
export type ColumnStatistics = Pick<ColumnDescription, keyof typeof columnFacts>

/** Entities by key or name: what a dataset's entity does not declare is left out. */
export const FoundSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      dataset: text,
      key: Type.Unknown(),
      name: Type.Optional(nullable(text)),
      period: Type.Optional(Type.Unknown()),
      rank: Type.Optional(nullable(Type.Number(number))),
      match: Type.String({ description: 'key, exact, prefix, words or typo' }),
      matched: Type.String({ description: 'The key, the name or the other name that met q.' }),
    }),
  ),
  explained: Type.Optional(Type.Object({ nowhere: Type.Array(text), nearest: Type.Array(text) })),
})

const budget = { limit: count, used: count, remaining: count }

export const AccountSchema = Type.Object({
  subscription: text,
  expires_at: nullable(text),
  /** `reset` in seconds. */
  rate_limit: Type.Object({ per_minute: small, remaining: small, reset: small }),
  global: nullable(Type.Object({ ...budget, resets_at: text })),
  datasets: Type.Array(
    Type.Object({
      name: text,
      plan: text,
      history: Type.Union([small, Type.Unsafe<'all'>(Type.String({ description: 'all' }))]),
      rows: Type.Unsafe<RowBudget | Readonly<Record<keyof RowBudget, null>>>(
        Type.Object({ limit: nullable(count), used: nullable(count), remaining: nullable(count) }),
      ),
      resets_at: nullable(text),
    }),
  ),
  /** The rows of the last twelve months, `YYYY-MM` in UTC; the current month is last. */
  months: Type.Array(Type.Object({ month: text, dataset: text, rows: count })),
})

/** A token's rights and usage (contract 4, `GET /v1/account`). Null = unlimited or none. */
export type AccountDescription = Static<typeof AccountSchema>

export const StatusSchema = Type.Object({ status: text })
export const ReadySchema = Type.Object({ status: text, reload: text, data: text })
