import type { Tool } from '@modelcontextprotocol/server'
import Type from 'typebox'
import { operatorNames } from '../columns/operators.js'
import { questionFields } from '../query/parse-json.js'
import {
  DatasetSummarySchema,
  columnHead,
  datasetHead,
  nullable,
} from '../service/answer-schemas.js'

/** The limit of a query that names none (contract 2). */
export const usualLimit = 50

const resource = Type.String({ description: 'the name of a dataset, from list_resources' })

export const ListArguments = Type.Object(
  {},
  { additionalProperties: false, description: 'an empty object' },
)

export const DescribeArguments = Type.Object(
  {
    resource,
    columns: Type.Optional(
      Type.Array(Type.String({ description: 'a column name' }), {
        description: 'a list of column names, to describe only these',
      }),
    ),
    search: Type.Optional(
      Type.String({
        description: 'words, to describe only the columns with all of them in name or description',
      }),
    ),
  },
  { additionalProperties: false, description: 'an object {resource, columns, search}' },
)

export const QueryArguments = Type.Object(
  {
    resource,
    ...questionFields,
    explain: Type.Optional(
      Type.Boolean({
        description:
          'true, or false to decline the explanation of an empty answer, which costs a row',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'an object {resource, filters, select, limit, cursor, explain}',
  },
)

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

const ListAnswer = Type.Object({ resources: Type.Array(DatasetSummarySchema) })

const DescribeAnswer = Type.Object({
  ...datasetHead,
  fast_filters: texts,
  profiled_rows: nullable(count),
  columns: Type.Array(
    Type.Object({
      ...columnHead,
      unit: Type.Optional(text),
      description: Type.Optional(text),
      values: Type.Optional(list),
      min: Type.Optional(value),
      max: Type.Optional(value),
      null_share: Type.Optional(Type.Number()),
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

const QueryAnswer = Type.Object({
  columns: texts,
  data: columnLists,
  row_count: count,
  next_cursor: nullable(text),
  truncated: Type.Boolean(),
  version: text,
  quota: Type.Union([Type.Object({ rows_remaining: count, scope: text }), Type.Null()]),
  hint: Type.Optional(text),
  explained: Type.Optional(Type.Boolean()),
})

const annotations = {
  readOnlyHint: true,
  openWorldHint: false,
  idempotentHint: true,
  destructiveHint: false,
}

/** A schema as JSON, without the keys that only TypeBox reads. */
function plain(schema: Type.TObject): Tool['inputSchema'] {
  return JSON.parse(JSON.stringify(schema)) as Tool['inputSchema']
}

/** The three tools, always in this order. */
export const tools = [
  {
    name: 'list_resources',
    title: 'List datasets',
    description:
      'The datasets that this token can read: name, title, description, number of rows and ' +
      'columns, version, as_of (the date of the data) and scope, the part of it that this token ' +
      'sees (null = all). Call it first. Free of charge.',
    inputSchema: plain(ListArguments),
    outputSchema: plain(ListAnswer),
    annotations: { title: 'List datasets', ...annotations },
  },
  {
    name: 'describe_resource',
    title: 'Describe a dataset',
    description:
      'Everything needed to query one dataset: each column with type, unit, description, its ' +
      'values if they are few, smallest and largest value, share of nulls; the operators of each ' +
      'type; fast_filters, the columns that are quick to filter on; three of the newest rows and ' +
      'two example calls of query that work. Call it before the first query of a dataset. Of a ' +
      'dataset with many columns it shows the most filled ones, and hint counts the others: call ' +
      'it again with search ("profit") or columns (["2110"]). Free of charge.',
    inputSchema: plain(DescribeArguments),
    outputSchema: plain(DescribeAnswer),
    annotations: { title: 'Describe a dataset', ...annotations },
  },
  {
    name: 'query',
    title: 'Read rows',
    description:
      'Rows of a dataset that meet all filters, column by column. filters: a list of ' +
      `{column, op, value}; op is one of ${operatorNames.join(', ')} (those of each type are in ` +
      'describe_resource); value is a list for in and not_in, a text ending in * for like, words ' +
      'for contains (finds names), left out for is_null and not_null. select: the columns to ' +
      `return; left out, all. limit: ${usualLimit} when left out. Rows come in stored order, ` +
      'which is fixed; there is no sorting or aggregation. While next_cursor is not null, repeat ' +
      'the same call with cursor for the next rows; truncated means that rows were left out to ' +
      'keep the answer short. Returned rows count against the monthly quota. When no row meets ' +
      'several filters, hint says which of them is the cause; that costs one row (explained: ' +
      'true), and explain: false declines it.',
    inputSchema: plain(QueryArguments),
    outputSchema: plain(QueryAnswer),
    annotations: { title: 'Read rows', ...annotations },
  },
] as const

export type ToolName = (typeof tools)[number]['name']
