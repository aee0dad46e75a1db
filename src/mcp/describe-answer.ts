import { exactJsonText } from '../query/exact-json.js'
import type { ColumnGuide, DatasetGuide } from '../service/guides.js'
import { columnValues } from './query-answer.js'
import { usualLimit } from './tools.js'

/** Clients put longer answers aside, where their model has to search in them. */
const lettersMax = 50_000

/** What a description of very many columns or long values can do without, in this order. */
const spared = ['operators', 'sample_rows', 'values', 'min', 'max', 'null_share', 'description']

/**
 * The answer of `describe_resource`, for `exactJsonText`: the guide, with example rows and calls in
 * this door's form.
 */
export function describeAnswer(guide: DatasetGuide) {
  const { limit, columns, operators, sample_rows: rows, examples, caution, ...head } = guide
  const names = columns.map(({ name }) => name)
  const answer = {
    ...head,
    limit: { default: Math.min(usualLimit, limit.max), max: limit.max },
    examples: examples.map(({ purpose, row_count: rowCount, ...question }) => ({
      purpose,
      arguments: { resource: guide.name, ...question },
      row_count: rowCount,
    })),
    columns: columns.map(withoutNulls),
    operators,
    sample_rows: columnValues(names, rows),
  }
  return shortened(caution === null ? answer : { ...answer, hint: caution })
}

/** Null stands for a unit or description that nobody gave: it is left out. */
function withoutNulls({ unit, description, ...column }: ColumnGuide) {
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

/** The whole answer, or one that spares as many facts as it must, and says so. */
function shortened(answer: Answer): Answer {
  for (let count = 0; count < spared.length; count++) {
    const shorter = count === 0 ? answer : without(answer, spared.slice(0, count))
    if (exactJsonText(shorter).length <= lettersMax) return shorter
  }
  return without(answer, spared)
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
