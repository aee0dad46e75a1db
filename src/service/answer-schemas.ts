import Type from 'typebox'

/** The schemas of the answers that clients rely on (contract 4), for REST, OpenAPI and MCP. */
export function nullable<T extends Type.TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** Generated clients read integers without a format as 32 bits, and numbers as single precision. */
const count = Type.Integer({ minimum: 0, format: 'int64' })
const small = Type.Integer({ minimum: 0, format: 'int32' })
const number = { format: 'double' }
const text = Type.String()

const names = { name: text, title: text, description: nullable(text) }
const vintage = { version: text, as_of: nullable(text), updated_at: text, scope: nullable(text) }

/** A dataset in a list of datasets. */
const DatasetSummarySchema = Type.Object({
  ...names,
  rows: count,
  columns: small,
  ...vintage,
})

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

/** A description of a dataset without its columns and examples. */
const datasetHead = {
  ...names,
  source: nullable(text),
  ...vintage,
  rows: count,
  key: Type.Array(text),
  history: nullable(text),
  require_filter: Type.Boolean(),
  limit: Type.Object({ default: small, max: small }),
}

/** The fields of every column description. */
const columnHead = { name: text, type: text, nullable: Type.Boolean() }

const share = Type.Number({ minimum: 0, maximum: 1, ...number })

/** What `facts=true` adds to a column; which fields there are depends on its values. */
const columnFacts = {
  null_share: Type.Optional(share),
  min: Type.Optional(Type.Unknown()),
  max: Type.Optional(Type.Unknown()),
  values: Type.Optional(Type.Array(Type.Unknown())),
  common: Type.Optional(
    Type.Array(Type.Object({ value: Type.Unknown(), share, label: Type.Optional(text) })),
  ),
  histogram: Type.Optional(
    Type.Object({
      edges: Type.Array(Type.Union([Type.Number(number), text])),
      shares: Type.Array(share),
    }),
  ),
}

export const DatasetSchema = Type.Object({
  ...datasetHead,
  profiled_rows: Type.Optional(nullable(count)),
  caution: Type.Optional(nullable(text)),
  columns: Type.Array(
    Type.Object({
      ...columnHead,
      label: nullable(text),
      section: nullable(text),
      unit: nullable(text),
      description: nullable(text),
      operators: Type.Array(text),
      check: Type.Optional(Type.String({ description: 'inn or ogrn: values have check digits' })),
      levels: Type.Optional(Type.Record(Type.String(), text)),
      level_labels: Type.Optional(Type.Record(Type.String(), text)),
      labels: Type.Optional(Type.Boolean()),
      ...columnFacts,
    }),
  ),
  examples: Type.Array(text),
  aggregates: nullable(
    Type.Object({
      rows_per_group: small,
      functions: Type.Array(
        Type.Object({ type: text, measures: Type.Array(text), group: Type.Array(text) }),
      ),
      measures: Type.Array(
        Type.Object({
          name: text,
          label: nullable(text),
          formula: text,
          unit: nullable(text),
          description: nullable(text),
        }),
      ),
    }),
  ),
})

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
  rate_limit: Type.Object({ per_minute: small, remaining: small, reset: small }),
  global: nullable(Type.Object({ ...budget, resets_at: text })),
  datasets: Type.Array(
    Type.Object({
      name: text,
      plan: text,
      history: Type.Union([small, Type.String({ description: 'all' })]),
      rows: Type.Object({
        limit: nullable(count),
        used: nullable(count),
        remaining: nullable(count),
      }),
      resets_at: nullable(text),
    }),
  ),
  months: Type.Array(Type.Object({ month: text, dataset: text, rows: count })),
})

export const StatusSchema = Type.Object({ status: text })
export const ReadySchema = Type.Object({ status: text, reload: text, data: text })
