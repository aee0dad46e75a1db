import type { Column } from '../../columns/column.js'
import { headingNames } from '../../query/headings.js'
import { exportFormats } from '../../query/page-format.js'
import { filtersMax } from '../../query/raw-question.js'
import { listElement } from '../../query/write-url.js'
import type { ReferenceDataset } from '../../service/reference.js'
import { wholeFormats } from './answers.js'
import { filterExample, filterSchemaName } from './filters.js'
import { inQuery, int32, parameterRefs, refTo } from './json.js'
import type { Json } from './json.js'

/** Parameters that are the same on every path. */
export const sharedParameters = inQuery({
  cursor: {
    description:
      'Goes on where a page ended: its `next_cursor` or `X-Next-Cursor`. The filters stay the ' +
      'same; `limit` and `select` may change.',
    schema: { type: 'string' },
  },
  format: {
    description:
      'The format of the page; it goes before the header `Accept`. `ndjson`, one object a line, ' +
      'is a format too: generators take it for a stream, which is what the export is.',
    schema: { type: 'string', enum: wholeFormats, default: 'json' },
  },
  excel: {
    description:
      'With `format=csv`: CSV that Excel opens by a double click, with a byte order mark and the ' +
      'separator of the language in `Accept-Language`.',
    schema: { type: 'boolean', default: false },
  },
  header: {
    description:
      'The headings of CSV and XLSX. CSV has the names of columns, `2110`; XLSX has both, ' +
      '`Revenue (2110)`.',
    schema: { type: 'string', enum: ['label', 'code'] },
  },
  lang: {
    // Without a default: clients send one, and only headings have a language.
    description: 'The language of labels in the headings of CSV and XLSX; English when left out.',
    schema: { type: 'string', enum: ['en', 'ru'] },
  },
  facts: {
    description:
      'Adds what is known of the values of each column among the rows that the token sees. It ' +
      'costs no rows.',
    schema: { type: 'boolean', default: false },
  },
  'facts.labels': {
    description: 'With `facts=true`: the names of codes, in English or in Russian.',
    schema: { type: 'string', enum: ['true', 'ru', 'false'], default: 'false' },
  },
  since: {
    description: 'The version that you have. A cursor holds it.',
    schema: { type: 'string' },
  },
  watch: {
    description: 'The name of a watch list: changes of its rows and fields alone.',
    schema: { type: 'string' },
  },
  q: {
    required: true,
    description: 'A name, in any spelling, or a key or its beginning.',
    schema: { type: 'string', maxLength: 200 },
    example: 'лукойл',
  },
  'find.limit': {
    description: 'The most entities.',
    schema: { ...int32, minimum: 1, maximum: 50, default: 10 },
  },
  explain: {
    description: 'When nothing is found: says why, and names words that are nowhere, for one row.',
    schema: { type: 'boolean', default: false },
  },
  'export.format': {
    description: 'The format of the export; it goes before the header `Accept`.',
    schema: { type: 'string', enum: exportFormats, default: 'ndjson' },
  },
  datasets: {
    name: 'dataset',
    description: 'Only these datasets; all of them when left out.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' }, minItems: 1 },
  },
  'If-None-Match': {
    in: 'header',
    description: 'An `ETag` that you have: where it still holds the answer is 304.',
    schema: { type: 'string' },
  },
})

/** The parameters of a dataset's page and export, by component name. */
export function datasetParameters(dataset: ReferenceDataset): Readonly<Record<string, Json>> {
  const { name, limit, columns, sample } = dataset
  const [first] = sample.keys()
  return {
    ...inQuery({
      [`${name}.select`]: selectParameter(columns),
      [`${name}.limit`]: {
        description: `Rows of the page: 1 to ${limit.max}, ${limit.default} when left out.`,
        schema: { ...int32, minimum: 1, maximum: limit.max, default: limit.default },
      },
    }),
    ...Object.fromEntries(
      columns.map((column) => {
        const value = sample.get(column.name) ?? column.rules.example
        return [filterName(name, column), filterParameter(column, value, column.name === first)]
      }),
    ),
  }
}

/** Filters on the columns, as components; `taken` are names of other parameters. */
export function filterRefs(
  { name, columns }: ReferenceDataset,
  taken: readonly string[] = [],
): readonly Json[] {
  // Names of parameters are unique in the document; such a column is still filtered.
  const all = [...headingNames, ...taken]
  const free = columns.filter((column) => !all.includes(column.name))
  return parameterRefs(...free.map((column) => filterName(name, column)))
}

function selectParameter(columns: readonly Column[]): Json {
  return {
    description:
      'Columns of the answer, in the order wanted; all of them when left out. May be repeated.',
    style: 'form',
    explode: false,
    schema: {
      type: 'array',
      items: { type: 'string', enum: columns.map((column) => listElement(column.name)) },
      minItems: 1,
      uniqueItems: true,
    },
  }
}

/** A component's name allows few characters: character codes replace the others. */
function filterName(dataset: string, { name }: Column): string {
  const safe = name.replace(/[^A-Za-z0-9_]/gu, (letter) => `-${letter.codePointAt(0) ?? 0}-`)
  return `${dataset}.filter.${safe}`
}

/** Viewers prefill a parameter's example, so only one filter has one: a filter that finds rows. */
function filterParameter(column: Column, value: string, isFilledIn: boolean): Json {
  const { name, rules } = column
  const example = [filterExample(column, value)]
  return {
    name,
    in: 'query',
    description: filterDescription(column),
    // Written as `form` and exploded, the defaults: `year=gte.2020&year=lte.2022`.
    schema: {
      type: 'array',
      items: refTo('schemas', filterSchemaName(rules.shown)),
      maxItems: filtersMax,
      examples: [example],
    },
    ...(isFilledIn && { example }),
  }
}

function filterDescription({ label, description, unit, rules, nullable }: Column): string {
  const type = `${rules.shown}${nullable ? ', may be empty' : ''}`
  const words = [description ?? label, unit === null ? null : `unit: ${unit}`, type]
  return words.filter((word) => word !== null).join('; ')
}
