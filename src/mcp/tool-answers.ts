import Type from 'typebox'
import {
  DatasetSummarySchema,
  columnHead,
  datasetHead,
  nullable,
} from '../service/answer-schemas.js'

const text = Type.String()
const texts = Type.Array(text)
const count = Type.Integer({ minimum: 0 })
const value = Type.Union([Type.String(), Type.Number()])
/** Any values; never written as `{}` or `true`, which some clients refuse. */
const list = Type.Unsafe<readonly unknown[]>({ type: 'array' })
/** By column name, one value a row. */
const columnLists = Type.Unsafe<Readonly<Record<string, readonly unknown[]>>>({
  type: 'object',
  additionalProperties: { type: 'array' },
})
const question = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' })

export const ListAnswer = Type.Object({ resources: Type.Array(DatasetSummarySchema) })

export const DescribeAnswer = Type.Object({
  ...datasetHead,
  fast_filters: texts,
  profiled_rows: nullable(count),
  aggregates: Type.Optional(
    Type.Object({
      rows_per_group: count,
      functions: Type.Array(Type.Object({ type: text, measures: texts, group: texts })),
      measures: Type.Array(
        Type.Object({
          name: text,
          formula: text,
          unit: Type.Optional(text),
          description: Type.Optional(text),
        }),
      ),
      example: Type.Object({ purpose: text, arguments: question }),
    }),
  ),
  columns: Type.Array(
    Type.Object({
      ...columnHead,
      label: Type.Optional(text),
      section: Type.Optional(text),
      unit: Type.Optional(text),
      description: Type.Optional(text),
      values: Type.Optional(list),
      min: Type.Optional(value),
      max: Type.Optional(value),
      null_share: Type.Optional(Type.Number()),
      levels: Type.Optional(question),
      labels: Type.Optional(Type.Boolean()),
    }),
  ),
  operators: Type.Optional(
    Type.Array(Type.Object({ op: text, meaning: text, types: texts, example: question })),
  ),
  sample_rows: columnLists,
  examples: Type.Optional(
    Type.Array(Type.Object({ purpose: text, arguments: question, row_count: count })),
  ),
  hint: Type.Optional(text),
})

/** What every answer with data has. */
const dataHead = {
  columns: texts,
  data: columnLists,
  truncated: Type.Boolean(),
  version: text,
  quota: Type.Union([Type.Object({ rows_remaining: count, scope: text }), Type.Null()]),
  hint: Type.Optional(text),
}

export const TopAnswer = Type.Object({
  ...dataHead,
  row_count: count,
  explained: Type.Optional(Type.Boolean()),
})

export const QueryAnswer = Type.Object({ ...TopAnswer.properties, next_cursor: nullable(text) })

export const AggregateAnswer = Type.Object({
  ...dataHead,
  units: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
  }),
  groups: count,
  rows: nullable(count),
})

export const FindAnswer = Type.Object({
  data: Type.Array(question),
  explained: Type.Optional(Type.Object({ nowhere: texts, nearest: texts })),
  left_out: Type.Optional(texts),
  quota: dataHead.quota,
})

export const SearchAnswer = Type.Object({
  results: Type.Array(Type.Object({ id: text, title: text, url: text })),
})

export const FetchAnswer = Type.Object({
  ...SearchAnswer.properties.results.items.properties,
  text,
  metadata: question,
})
