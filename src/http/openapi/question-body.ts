import type { ShownType } from '../../columns/column-types.js'
import type { ValueForm } from '../../columns/operators.js'
import { questionFields } from '../../query/parse-json.js'
import { filtersMax, listValuesMax } from '../../query/raw-question.js'
import { firstColumns } from '../../catalog/first-columns.js'
import type { ReferenceDataset } from '../../service/reference.js'
import { operatorsWith, valueForms, valuePatterns } from './filters.js'
import { double, int32, refTo } from './json.js'
import type { Json } from './json.js'

/** The filters of a question as JSON: columns with their operators and values. */
export function filtersSchema({ columns }: ReferenceDataset): Json {
  const types = new Set(columns.map(({ rules }) => rules.shown))
  const filters = [...types].flatMap((type) => {
    const names = columns.filter(({ rules }) => rules.shown === type).map((each) => each.name)
    return valueForms.flatMap((form) => filterSchema(type, form, names))
  })
  return { type: 'array', maxItems: filtersMax, items: { anyOf: filters } }
}

/** The body of `POST /v1/<dataset>/query`. */
export function questionSchema({ name, limit }: ReferenceDataset): Json {
  return {
    type: 'object',
    properties: {
      filters: refTo('schemas', `${name}.Filters`),
      select: {
        type: 'array',
        items: refTo('schemas', `${name}.Column`),
        minItems: 1,
        uniqueItems: true,
      },
      // With a default, generated types would require the key.
      limit: {
        ...int32,
        minimum: 1,
        maximum: limit.max,
        description: `Rows of the page; ${limit.default} when left out.`,
      },
      cursor: questionFields.cursor,
    },
    additionalProperties: false,
  }
}

/** Empty if the type has no operator of this form. */
function filterSchema(type: ShownType, form: ValueForm, columns: readonly string[]): Json[] {
  const names = operatorsWith(type, form)
  if (names.length === 0) return []
  const required = ['column', 'op', ...(form === 'none' ? [] : ['value'])]
  const properties = {
    column: { type: 'string', enum: columns },
    op: { type: 'string', enum: names },
    ...(form !== 'none' && { value: valueSchema(type, form) }),
  }
  return [{ type: 'object', required, properties, additionalProperties: false }]
}

function valueSchema(type: ShownType, form: ValueForm): Json {
  if (form === 'pattern') return { type: 'string', pattern: String.raw`^[^*]*\*?$` }
  if (form === 'words') return { type: 'string', pattern: String.raw`\S` }
  if (form !== 'list') return scalarSchema(type)
  return { type: 'array', items: scalarSchema(type), minItems: 1, maxItems: listValuesMax }
}

function scalarSchema(type: ShownType): Json {
  const text = { type: 'string', pattern: `^${valuePatterns[type]}$` }
  switch (type) {
    case 'integer':
    case 'number':
      return { anyOf: [text, double] }
    case 'boolean':
      return { anyOf: [text, { type: 'boolean' }] }
    case 'string':
      return { type: 'string' }
    default:
      return text
  }
}

const exampleLimit = 10

/** A question that returns rows: it filters by a value that occurs in one of the columns. */
export function questionExample({ columns, sample, firstNames }: ReferenceDataset): Json {
  const [found] = sample
  const column = columns.find(({ rules }) => rules.shown !== 'json')
  const name = found?.[0] ?? column?.name
  const value = found?.[1] ?? column?.rules.example
  const filter = name !== undefined && value !== '' ? [{ column: name, op: 'eq', value }] : []
  const names = new Set(columns.map((each) => each.name))
  return {
    filters: filter,
    select: firstColumns(firstNames, columns, (each) => names.has(each)),
    limit: exampleLimit,
  }
}
