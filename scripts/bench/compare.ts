import { differenceOf } from '../harness/fault.js'
import type { Contestant } from './field.js'
import type { Row } from './messages.js'
import type { Question } from './questions.js'

/** What one contestant answered. */
export interface Given {
  readonly contestant: Pick<Contestant, 'name' | 'kind' | 'isOrdered'>
  readonly rows: readonly Row[]
}

/**
 * What is wrong with answers to one question, by the contestant's name. An answer must have the
 * cells of one that a contestant of another kind gave: as a set where it is whole, in order where it
 * is a page. A page without an order need only meet the question.
 */
export function faultsIn(
  question: Question,
  isWhole: boolean,
  given: readonly Given[],
): ReadonlyMap<string, string> {
  const faults = new Map<string, string>()
  // A whole answer that is full may be a part of what matches.
  const limit = question.kind === 'rows' ? question.limit : Infinity
  const isPage = !isWhole || given.some(({ rows }) => rows.length === limit)
  const texts = new Map(given.map((each) => [each, textOf(each.rows, isPage)]))
  for (const each of given) {
    const { name, kind, isOrdered } = each.contestant
    const others = given.filter(
      ({ contestant }) => contestant.kind !== kind && (!isPage || contestant.isOrdered),
    )
    const own = texts.get(each) ?? ''
    const [first] = others
    if (first === undefined || others.some((other) => texts.get(other) === own)) continue
    const fault =
      isPage && !isOrdered
        ? misfit(question, each.rows, first.rows.length)
        : `not as ${first.contestant.name} ${differenceOf(own, texts.get(first) ?? '')}`
    if (fault !== null) faults.set(name, fault)
  }
  return faults
}

/** Equal texts for equal rows: names in order, and no nulls, which one of the peers leaves out. */
function textOf(rows: readonly Row[], isOrdered: boolean): string {
  const lines = rows.map((row) => {
    const names = Object.keys(row).filter((name) => row[name] !== null)
    return JSON.stringify(names.sort().map((name) => [name, row[name]]))
  })
  return (isOrdered ? lines : lines.sort()).join('\n')
}

function misfit(question: Question, rows: readonly Row[], count: number): string | null {
  if (rows.length !== count) return `${rows.length} rows, not ${count}`
  if (question.kind !== 'rows') return null
  const { year, okved } = question
  const isRight = (row: Row) =>
    (year === null || row['year'] === year) &&
    (okved === null || String(row['okved']).startsWith(okved))
  const wrong = rows.filter((row) => !isRight(row)).length
  return wrong === 0 ? null : `${wrong} rows that do not meet the filters`
}
