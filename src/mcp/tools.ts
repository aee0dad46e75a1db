import type { Tool } from '@modelcontextprotocol/server'
import Type from 'typebox'
import { accessibleDatasets } from '../access/access.js'
import { operatorNames } from '../columns/operators.js'
import { questionFields } from '../query/parse-json.js'
import { groupsLimit, groupsMax, measuresMax } from '../query/summary/raw-summary.js'
import { summaryFields } from '../query/summary/parse-summary.js'
import { changesFields } from '../query/parse-changes.js'
import { findFields } from '../query/parse-find.js'
import { topFields } from '../query/parse-top.js'
import type { Caller } from '../service.js'
import {
  AggregateAnswer,
  ChangesAnswer,
  DescribeAnswer,
  FetchAnswer,
  FindAnswer,
  ListAnswer,
  QueryAnswer,
  SearchAnswer,
  TopAnswer,
} from './tool-answers.js'

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
      Type.String({ description: 'words, to describe columns whose names or texts have all' }),
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

export const AggregateArguments = Type.Object(
  { resource, ...summaryFields },
  {
    additionalProperties: false,
    description:
      'an object {resource, group, measures, filters, having, order, pivot, rest, limit, labels}',
  },
)

export const TopArguments = Type.Object(
  { resource, ...topFields },
  {
    additionalProperties: false,
    description: 'an object {resource, by, filters, select, limit}',
  },
)

export const FindArguments = Type.Object(
  {
    ...findFields,
    resource: Type.Optional(
      Type.String({ description: 'the name of a dataset; left out, all that have names' }),
    ),
  },
  { additionalProperties: false, description: 'an object {q, resource, limit}' },
)

export const SearchArguments = Type.Object(
  { query: Type.String({ description: 'a name in any spelling, or a key' }) },
  { additionalProperties: false, description: 'an object {query}' },
)

export const FetchArguments = Type.Object(
  { id: Type.String({ description: 'an id of search: <dataset>/<key>' }) },
  { additionalProperties: false, description: 'an object {id}' },
)

export const ChangesArguments = Type.Object(
  { resource, ...changesFields },
  {
    additionalProperties: false,
    description: 'an object {resource, since, filters, select, limit, cursor}',
  },
)

const annotations = {
  readOnlyHint: true,
  openWorldHint: false,
  idempotentHint: true,
  destructiveHint: false,
}

/** Agents know the meaning of its members; the check of a wrong operator has the better error. */
const advertisedFilter = {
  type: 'object',
  properties: {
    column: { type: 'string' },
    op: { type: 'string', enum: operatorNames },
    value: {
      anyOf: [
        { type: 'string' },
        { type: 'number' },
        { type: 'boolean' },
        { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
      ],
    },
  },
  required: ['column', 'op'],
}

/**
 * A schema as JSON, without the keys that only TypeBox reads, and its description, which is for
 * errors. `required` also has the keys for which a later stage has the better error. Some clients
 * know neither `const` nor formats of numbers nor a refusal of other members, which is checked.
 */
function plain(
  schema: Type.TObject,
  required: readonly string[] | undefined = schema.required,
): Tool['inputSchema'] {
  const shown = { ...schema, required, description: undefined }
  const text = JSON.stringify(shown, (key, value: unknown) => {
    if (key === 'additionalProperties' && value === false) return undefined
    if (key === 'format' && typeof value === 'string') return undefined
    if (typeof value !== 'object' || value === null) return value
    if (key === 'filters') return { type: 'array', items: advertisedFilter }
    if (!('const' in value)) return value
    const { const: only, ...others } = value
    return { ...others, enum: [only] }
  })
  return JSON.parse(text) as Tool['inputSchema']
}

/** All tools, always in this order. */
export const tools = [
  {
    name: 'list_resources',
    title: 'List datasets',
    description:
      'The datasets that this token can read: name, title, description, number of rows and ' +
      'columns, version, as_of (the date of the data) and scope, the part of it that this token ' +
      'sees (null = all). Call it first. Free.',
    inputSchema: plain(ListArguments),
    outputSchema: plain(ListAnswer),
    annotations: { title: 'List datasets', ...annotations },
  },
  {
    name: 'describe_resource',
    title: 'Describe a dataset',
    description:
      'Everything needed to query one dataset: columns with type, unit, label, few values, range ' +
      'and share of nulls where it is high; operators by type; fast_filters; ' +
      'sample rows; calls that work; measures and levels of codes for aggregate; joins, the ' +
      'columns that find rows of other datasets. Call it before query. Of many columns ' +
      'it shows the main ones: for others and descriptions, call it with search ("profit") or ' +
      'columns (["2110"]). Free.',
    inputSchema: plain(DescribeArguments),
    outputSchema: plain(DescribeAnswer),
    annotations: { title: 'Describe a dataset', ...annotations },
  },
  {
    name: 'query',
    title: 'Read rows',
    description:
      'Rows of a dataset that meet all filters, column by column. filters: a list of {column, ' +
      'op, value}; value is a list for in and not_in, a text ending in * for like, words for ' +
      'contains, left out for is_null and not_null; ne and not_in leave empty values out, ' +
      'isdistinct keeps them. select: the columns to return; left out, all. limit: ' +
      `${usualLimit} when left out. Rows come in stored order: for totals and counts use ` +
      'aggregate, for the largest values top. While next_cursor is not null, repeat ' +
      'the call with cursor; truncated means that rows were left out to keep the answer short. ' +
      'Returned rows count against the monthly quota. When no row meets several filters, hint ' +
      'says which is the cause, for one row; explain: false declines it.',
    inputSchema: plain(QueryArguments),
    outputSchema: plain(QueryAnswer),
    annotations: { title: 'Read rows', ...annotations },
  },
  {
    name: 'aggregate',
    title: 'Count and total',
    description:
      'Counts, totals, averages, medians, ratios and growth over all rows that meet the filters, ' +
      'one row for each group: "how many", "revenue by industry", "who grew most". Never add up ' +
      `rows of query. measures: 1 to ${measuresMax} of count, count(c), distinct(c), sum(c), ` +
      'avg(c), min(c), max(c), median(c), p1(c) to p99(c); median(a/b), avg(a/b), p90(a/b) of ' +
      'the quotient of each row; ratio(a/b) = sum(a) by sum(b), where a side may be a+b-c or ' +
      '365*a; c@2024 = c in the rows of that year alone: sum(c@2024), growth(c@2023/c@2024); a ' +
      'measure of describe_resource by its name. "revenue:sum(2110)" renames. group: up to ' +
      `${groupsMax} of column, column:level (of a code), prefix(column,n), year(date), ` +
      'quarter(date), month(date), day(date); left out, one row over everything. having: ' +
      '"count.gte.10". order: "-revenue"; left out, by group. pivot: "year" makes a column of ' +
      'each year, of one group and one measure, largest first; rest: true then adds up groups ' +
      `beyond limit. limit: ${groupsLimit.usual} groups when left out, at most ` +
      `${groupsLimit.max}. labels: true adds the names of codes, "ru" the Russian ones. In the ` +
      'answer, groups counts all groups, rows the rows behind them. A group costs a row of the ' +
      'quota (rows_per_group; more if it has more values than the dataset has columns).',
    inputSchema: plain(AggregateArguments, ['resource', 'measures']),
    outputSchema: plain(AggregateAnswer),
    annotations: { title: 'Count and total', ...annotations },
  },
  {
    name: 'top',
    title: 'First rows by a column',
    description:
      'The rows with the largest or smallest values of one column: the 20 companies with the ' +
      'highest profit. by: "-2400" for the largest first, "2400" for the smallest; rows without ' +
      `a value are left out. filters and select: as in query. limit: ${usualLimit} when left ` +
      'out. A row counts against the monthly quota.',
    inputSchema: plain(TopArguments, ['resource', 'by']),
    outputSchema: plain(TopAnswer),
    annotations: { title: 'First rows by a column', ...annotations },
  },
  {
    name: 'find',
    title: 'Find a company by name',
    description:
      'Companies and other entities by name or key, to get the key for filters: legal forms, ' +
      'quotes, Latin letters, initials and a mistyped letter do not matter. match says how good ' +
      'an entry is. An entry costs a part of a row; when nothing is found, explained names the ' +
      'words that are nowhere, for one row.',
    inputSchema: plain(FindArguments, ['q']),
    outputSchema: plain(FindAnswer),
    annotations: { title: 'Find a company by name', ...annotations },
  },
  {
    name: 'changes',
    title: 'What changed',
    description:
      'Rows added, changed (fields: which columns) or removed since a version, as this token ' +
      'sees them; each counts as a row. Without since it lists the versions, free. filters, ' +
      'select, cursor: as in query.',
    inputSchema: plain(ChangesArguments),
    outputSchema: plain(ChangesAnswer),
    annotations: { title: 'What changed', ...annotations },
  },
  {
    name: 'search',
    title: 'Search companies',
    description:
      'Companies and other entities of all datasets by name or key, like find: the id of each is ' +
      'for fetch. Each result counts as a part of a row.',
    inputSchema: plain(SearchArguments),
    outputSchema: plain(SearchAnswer),
    annotations: { title: 'Search companies', ...annotations },
  },
  {
    name: 'fetch',
    title: 'Read all of a company',
    description:
      'Everything about one entity of search or find, as text: each figure with its label and ' +
      'unit, by section, a column for each period, newest first. For single figures query costs ' +
      'fewer tokens. Each period counts as a row of the monthly quota.',
    inputSchema: plain(FetchArguments),
    outputSchema: plain(FetchAnswer),
    annotations: { title: 'Read all of a company', ...annotations },
  },
] as const

/** Those that find and read entities, where a dataset has some. */
const entityTools: readonly string[] = ['search', 'fetch']

/** The tools of a token: where no dataset has an entity, none that reads entities. */
export function offeredTools({ principal, catalog }: Pick<Caller, 'principal' | 'catalog'>) {
  return namedTools(
    accessibleDatasets(principal, catalog).some(({ version }) => version.entity !== null),
  )
}

/** The tools where some dataset has an entity, or none has. */
export function namedTools(hasEntity: boolean) {
  return tools.filter(({ name }) => hasEntity || !entityTools.includes(name))
}

export type ToolName = (typeof tools)[number]['name']
