import { callName } from '../../columns/call-text.js'
import {
  aggregateFunctions,
  groupFunctions,
  isGroupable,
  isOrdered,
} from '../../columns/functions.js'
import {
  distinctMax,
  groupsLimit,
  groupsMax,
  havingMax,
  measuresMax,
  pivotMax,
} from '../../query/summary/raw-summary.js'
import type { ReferenceDataset } from '../../service/reference.js'
import { inQuery, int32, int64, parameterRefs, refTo } from './json.js'
import type { Json } from './json.js'

const text = { type: 'string' }

/** The lists of an aggregate, as parameters and as keys of JSON. */
const lists = {
  group: {
    description:
      `Up to ${groupsMax} columns, levels of codes (\`column:level\`) or functions of a ` +
      'column; one row over everything when left out. Empty values are a group.',
    schema: { type: 'array', items: text, maxItems: groupsMax },
  },
  measures: {
    description:
      `1 to ${measuresMax} functions, or measures that the dataset's schema names; at most ` +
      `${distinctMax} \`distinct\`. \`name:\` in front renames: \`total:sum(amount)\`. ` +
      '`c@2024` is the column in the rows of that year only; a side of a quotient may be ' +
      '`a+b-c` or `365*a`. In a URL, `+` is `%2B`.',
    schema: { type: 'array', items: text, minItems: 1, maxItems: measuresMax },
  },
  having: {
    description:
      '`<measure>.<operator>.<value>`: only groups that meet it, with the operators of the ' +
      "measure's type.",
    schema: { type: 'array', items: text, maxItems: havingMax },
  },
  order: {
    description:
      'Groups and measures of the request, with `-` the largest first. Ties and the default: by ' +
      'the groups; empty values come last.',
    schema: { type: 'array', items: text },
  },
} as const

const limit = {
  ...int32,
  minimum: 1,
  maximum: groupsLimit.max,
  default: groupsLimit.usual,
}

/** Members of a question for groups that are not lists. */
const pivot = {
  description:
    `One group whose values become columns, at most ${pivotMax}, beside exactly one group and ` +
    'one measure: `pivot=year`. Groups come by the measure, largest first; neither `order` nor ' +
    '`having` goes with it.',
  schema: text,
}
const rest = {
  description:
    'With `pivot` and a sum or count: one more group, `"rest": true`, adds up the groups beyond ' +
    '`limit`.',
  schema: { type: 'boolean', default: false },
}

type ListName = keyof typeof lists

const listNames = Object.keys(lists) as readonly ListName[]

/** Parameters of aggregates; columns of these names can be filtered in JSON only. */
export const aggregateNames: readonly string[] = [...listNames, 'pivot', 'rest', 'labels']

/** The parameters of aggregates and of top that depend on the dataset, by component name. */
export function aggregateParameters(dataset: ReferenceDataset): Readonly<Record<string, Json>> {
  const examples: Json = summaryExample(dataset)
  const { amount: by = dataset.columns.find(isOrdered)?.name } = dataset.example
  return inQuery({
    [`${dataset.name}.top.by`]: {
      required: true,
      description: 'One column; with `-` in front the largest values come first.',
      schema: text,
      ...(by !== undefined && { example: `-${callName(by)}` }),
    },
    ...Object.fromEntries(
      listNames.map((name) => [
        `${dataset.name}.aggregate.${name}`,
        {
          ...(name === 'measures' && { required: true }),
          ...lists[name],
          style: 'form',
          explode: name === 'having',
          ...(examples[name] !== undefined && { example: examples[name] }),
        },
      ]),
    ),
  })
}

/** The parameters of aggregates that are the same for every dataset. */
export const sharedAggregateParameters = inQuery({
  'aggregate.pivot': pivot,
  'aggregate.rest': rest,
  'aggregate.limit': {
    description: `Groups: 1 to ${groupsLimit.max}, ${groupsLimit.usual} when left out.`,
    schema: limit,
  },
  'aggregate.labels': {
    description:
      'With true, codes come with their names, as `<group>:label`; with ru, with Russian names, ' +
      'where the dataset has them.',
    schema: { type: 'string', enum: ['true', 'ru', 'false'], default: 'false' },
  },
})

/** The parameters of a dataset's aggregates but for filters and format. */
export function aggregateRefs({ name }: ReferenceDataset): readonly Json[] {
  const lists = listNames.map((list) => `${name}.aggregate.${list}`)
  return parameterRefs(...lists, ...Object.keys(sharedAggregateParameters))
}

/** The body of `POST /v1/<dataset>/aggregate`. */
export function summarySchema({ name }: ReferenceDataset): Json {
  const properties = listNames.map((list) => {
    const { description, schema } = lists[list]
    return [list, list === 'measures' ? { description, ...schema } : orNull(schema, description)]
  })
  return {
    type: 'object',
    required: ['measures'],
    properties: {
      ...Object.fromEntries(properties),
      filters: orNull(refTo('schemas', `${name}.Filters`)),
      pivot: orNull(pivot.schema, pivot.description),
      rest: orNull(rest.schema, rest.description),
      limit: orNull(limit),
      labels: { anyOf: [{ type: 'boolean' }, { type: 'string', enum: ['ru'] }, { type: 'null' }] },
      format: orNull(refTo('schemas', 'Format')),
    },
    additionalProperties: false,
  }
}

/** Null counts as absent. */
function orNull(schema: Json, description?: string): Json {
  return { ...(description !== undefined && { description }), anyOf: [schema, { type: 'null' }] }
}

/** A question that every dataset answers. */
export function summaryExample({ columns, example }: ReferenceDataset): Json {
  const { amount } = example
  const any = columns.find(isGroupable)
  const group = example.group ?? (any && callName(any.name))
  return {
    ...(group !== undefined && { group: [group] }),
    measures: ['count', ...(amount === undefined ? [] : [`sum(${callName(amount)})`])],
    having: ['count.gte.1'],
    order: ['-count'],
  }
}

/** The groups of an answer. */
export const groupsSchema: Json = {
  type: 'object',
  required: ['data', 'groups', 'rows', 'truncated'],
  properties: {
    data: {
      type: 'array',
      items: { type: 'object', description: 'Keys as written in the request, or as renamed.' },
    },
    groups: { ...int64, minimum: 0, description: 'All groups that meet `having`.' },
    rows: {
      ...int64,
      type: ['integer', 'null'],
      minimum: 0,
      description: 'Rows that meet the filters; null if there is no group.',
    },
    truncated: { type: 'boolean', description: 'The limit left groups out.' },
  },
}

const operandForms = {
  column: 'column',
  'column or quotient': 'column',
  quotient: 'a/b',
  'two values': 'c@2023/c@2024',
} as const

/** The functions as a table in Markdown. */
export function functionTable(): readonly string[] {
  const measures = Object.entries(aggregateFunctions).map(([name, { takes, meaning }]) => {
    const operand = operandForms[takes]
    return `| \`${name}(${operand})\` | ${meaning} |`
  })
  const groups = Object.entries(groupFunctions).map(([name, { meaning }]) => {
    const operand = name === 'prefix' ? 'column,n' : 'column'
    return `| \`${name}(${operand})\` | ${meaning} |`
  })
  return ['| measure or group | meaning |', '| --- | --- |', ...measures, ...groups]
}
