import type { Contestant, Row } from './contestant.js'
import type { Question } from './questions.js'

/** One question's answers, in the order of the contestants that gave them. */
export interface Given {
  readonly contestant: Contestant
  readonly rows: readonly Row[]
}

/**
 * What is wrong with each answer, by the contestant's name. A whole answer is compared with the
 * engine's, as a set. A page may hold any rows that meet the question: ours is compared with the
 * engine's over the same files, in order, and a peer's with the question.
 */
export function faultsIn(
  question: Question,
  isWhole: boolean,
  given: readonly Given[],
): ReadonlyMap<string, string> {
  const faults = new Map<string, string>()
  const engines = given.filter(({ contestant }) => contestant.kind === 'engine')
  for (const { contestant, rows } of given) {
    const own = engines.find((each) => each.contestant.dataset === contestant.dataset)
    const right = (isWhole ? engines[0] : own)?.rows
    // The engine's own fault is reported where it was asked.
    if (!right) continue
    const isOurs = contestant.kind === 'das' || contestant.kind === 'engine'
    const fault =
      isWhole || isOurs
        ? difference(rows.map(textOf), right.map(textOf), isWhole)
        : misfit(question, rows, right.length)
    if (fault !== null) faults.set(contestant.name, fault)
  }
  return faults
}

/** One text for equal rows: names in order, and no nulls, which one of the peers leaves out. */
function textOf(row: Row): string {
  const names = Object.keys(row).filter((name) => row[name] !== null)
  return JSON.stringify(names.sort().map((name) => [name, row[name]]))
}

function difference(rows: string[], right: string[], isSet: boolean): string | null {
  if (rows.length !== right.length) return `${rows.length} rows, not ${right.length}`
  if (isSet) {
    rows.sort()
    right.sort()
  }
  const at = rows.findIndex((text, index) => text !== right[index])
  if (at === -1) return null
  const [text = '', rightText = ''] = [rows[at], right[at]]
  const from = Math.max(firstDifference(text, rightText) - 20, 0)
  const [found, expected] = [text, rightText].map((each) => each.slice(from, from + 60))
  return `row ${at + 1} differs: …${found}…, not …${expected}…`
}

function firstDifference(left: string, right: string): number {
  let at = 0
  while (at < left.length && left[at] === right[at]) at += 1
  return at
}

function misfit({ year, okved }: Question, rows: readonly Row[], count: number): string | null {
  if (rows.length !== count) return `${rows.length} rows, not ${count}`
  const isRight = (row: Row) =>
    (year === null || row['year'] === year) &&
    (okved === null || String(row['okved']).startsWith(okved))
  const wrong = rows.filter((row) => !isRight(row)).length
  return wrong === 0 ? null : `${wrong} rows that do not meet the filters`
}
