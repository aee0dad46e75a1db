import { exactJsonText } from '../query/exact-json.js'
import type { AggregateGuide } from '../service/aggregate-guide.js'
import type { ColumnGuide, DatasetGuide } from '../service/guides.js'
import { columnValues } from './query-answer.js'
import { usualLimit } from './tools.js'

/** Clients store longer answers aside, and their model has to search in them. */
const lettersMax = 50_000

/** Fields that a description of many columns or long values can leave out, in this order. */
const droppable = ['operators', 'sample_rows', 'values', 'min', 'max', 'null_share', 'description']

/**
 * The answer of `describe_resource`, for `exactJsonText`: the guide, with example rows by column
 * and calls of `query`.
 */
export function describeAnswer(guide: DatasetGuide) {
  const { limit, columns, operators, sample_rows: rows, examples, aggregates, ...rest } = guide
  const { caution, ...head } = rest
  const names = columns.map(({ name }) => name)
  const answer = {
    ...head,
    limit: { default: Math.min(usualLimit, limit.max), max: limit.max },
    examples: examples.map(({ purpose, row_count: rowCount, ...question }) => ({
      purpose,
      arguments: { resource: guide.name, ...question },
      row_count: rowCount,
    })),
    ...(aggregates && { aggregates: aggregateAnswer(guide.name, aggregates) }),
    columns: columns.map(withoutNulls),
    operators,
    sample_rows: columnValues(names, rows),
  }
  return shortened(caution === null ? answer : { ...answer, hint: caution })
}

/** How to ask for aggregates, with an example as arguments of the tool. */
function aggregateAnswer(resource: string, { example, measures, ...guide }: AggregateGuide) {
  return {
    ...guide,
    measures: measures.map(withoutNulls),
    example: { purpose: 'one row for each group', arguments: { resource, ...example } },
  }
}

/** Leaves out a missing unit or description. */
function withoutNulls<T extends Pick<ColumnGuide, 'unit' | 'description'>>({
  unit,
  description,
  ...column
}: T) {
  return {
    ...column,
    ...(unit !== null && { unit }),
    ...(description !== null && { description }),
  }
}

interface Answer {
  readonly columns: readonly object[]
  readonly sample_rows: object
  readonly hint?: string
}

/** The whole answer, or one without as many fields as necessary, and with a hint. */
function shortened(answer: Answer): Answer {
  for (let count = 0; count < droppable.length; count++) {
    const shorter = count === 0 ? answer : without(answer, droppable.slice(0, count))
    if (exactJsonText(shorter).length <= lettersMax) return shorter
  }
  return without(answer, droppable)
}

function without(answer: Answer, left: readonly string[]) {
  return {
    ...answer,
    columns: answer.columns.map((column) =>
      Object.fromEntries(Object.entries(column).filter(([key]) => !left.includes(key))),
    ),
    ...(left.includes('sample_rows') && { sample_rows: {} }),
    hint: [answer.hint ?? [], `Left out, to keep this short: ${left.join(', ')}.`].flat().join(' '),
  }
}
