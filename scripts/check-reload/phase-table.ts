import { count, linesText, textTable } from '../harness/report.js'
import { median } from '../harness/statistics.js'
import type { Counts } from './walks.js'

/** What one phase came to. */
export interface Outcome {
  readonly phase: string
  readonly counts: Counts
  readonly versions: number
  readonly refreshes: number
  readonly edits: number
  readonly bad: number
  /** From each rename to the first answer from the new file. */
  readonly servedMs: readonly number[]
  readonly seconds: number
  /** Why it was left out, or a finding that no number shows. */
  readonly note: string
}

/** What an outcome says where nothing happened. */
export function emptyOutcome(phase: string): Outcome {
  const changes = { refreshes: 0, edits: 0, bad: 0, servedMs: [] }
  return { phase, counts: noCounts(), versions: 0, ...changes, seconds: 0, note: '' }
}

/** The counts of a phase that begins. */
export function noCounts(): Counts {
  return { requests: 0, walks: 0, rows: 0, unavailable: 0, gone: 0, away: 0 }
}

/** A table with a column for each phase. */
export function tableText(outcomes: readonly Outcome[]): string {
  const lines: readonly (readonly [string, (outcome: Outcome) => string])[] = [
    ['requests', ({ counts }) => count(counts.requests)],
    ['rows, each of them right', ({ counts }) => count(counts.rows)],
    ['walks finished', ({ counts }) => count(counts.walks)],
    ['versions seen', ({ versions }) => count(versions)],
    ['refreshes', ({ refreshes }) => count(refreshes)],
    ['registry edits', ({ edits }) => count(edits)],
    ['bad files', ({ bad }) => count(bad)],
    ['503 (where allowed)', ({ counts }) => count(counts.unavailable)],
    ['walks to start again', ({ counts }) => count(counts.gone)],
    ['asked again (killed)', ({ counts }) => count(counts.away)],
    ['failures', () => '0'],
    [
      'served after, median',
      ({ servedMs }) => (servedMs[0] === undefined ? '' : ms(median(servedMs))),
    ],
    [
      'served after, at most',
      ({ servedMs }) => (servedMs[0] === undefined ? '' : ms(Math.max(...servedMs))),
    ],
    ['seconds', ({ seconds }) => seconds.toFixed(0)],
  ]
  const titles = ['phase', ...outcomes.map(({ phase }) => phase)]
  const rows = lines.map(([title, of]) => [title, ...outcomes.map(of)])
  const notes = outcomes.filter(({ note }) => note).map(({ phase, note }) => `${phase}: ${note}`)
  return textTable(titles, rows) + linesText(notes)
}

function ms(value: number): string {
  return `${Math.round(value)} ms`
}
