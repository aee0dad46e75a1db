import Type from 'typebox'
import { nullable } from '../service/answer-schemas.js'

const text = Type.String()
const texts = Type.Array(text)
const count = Type.Integer({ minimum: 0 })
/** By column name, one value a row. */
const columnLists = Type.Unsafe<Readonly<Record<string, readonly unknown[]>>>({
  type: 'object',
  additionalProperties: { type: 'array' },
})
const question = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' })

export const ListAnswer = Type.Object({ resources: Type.Array(question) })

export const DescribeAnswer = Type.Object({
  name: text,
  columns: Type.Array(question),
  sample_rows: columnLists,
  operators: Type.Optional(question),
  aggregates: Type.Optional(question),
  examples: Type.Optional(Type.Array(question)),
  joins: Type.Optional(texts),
  hint: Type.Optional(text),
})

/** What every answer with data has. */
const dataHead = {
  /** In the requested order, which objects lose for names made of digits. */
  columns: texts,
  data: columnLists,
  /** Rows were left out to keep the answer short. */
  truncated: Type.Boolean(),
  version: text,
  /** Null when no quota applies. */
  quota: Type.Union([Type.Object({ rows_remaining: count, scope: text }), Type.Null()]),
  hint: Type.Optional(text),
}

export const TopAnswer = Type.Object({
  ...dataHead,
  row_count: count,
  /** The hint explains an empty answer, and cost one row of the quota. */
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

export const ChangesAnswer = Type.Object({
  data: Type.Array(question),
  next_cursor: Type.Optional(nullable(text)),
  version: Type.Optional(text),
  truncated: Type.Optional(Type.Boolean()),
})

export const SearchAnswer = Type.Object({
  results: Type.Array(Type.Object({ id: text, title: text, url: text })),
  left_out: Type.Optional(texts),
})

export const FetchAnswer = Type.Object({
  ...SearchAnswer.properties.results.items.properties,
  text,
  metadata: question,
})
