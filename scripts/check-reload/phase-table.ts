import type { Counts } from './walks.js'

/** What one phase came to. */
export interface Outcome {
  readonly phase: string
  readonly counts: Counts
  readonly versions: number
  readonly refreshes: number
  readonly edits: number
  readonly bad: number
  /** From each rename to its being served. */
  readonly servedMs: readonly number[]
  readonly seconds: number
  /** Why it was left out, or what else there is to say. */
  readonly note: string
}

/** Counts of nothing. */
export function noCounts(): Counts {
  return { requests: 0, walks: 0, rows: 0, unavailable: 0, gone: 0, away: 0 }
}

/** A table with a column for each phase. */
export function tableText(outcomes: readonly Outcome[]): string {
  const lines: readonly (readonly [string, (outcome: Outcome) => string])[] = [
    ['phase', ({ phase }) => phase],
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
    ['served after, median', ({ servedMs }) => ms(quantile(servedMs, 0.5))],
    ['served after, at most', ({ servedMs }) => ms(quantile(servedMs, 1))],
    ['seconds', ({ seconds }) => seconds.toFixed(0)],
  ]
  const rows = lines.map(([title, of]) => [title, ...outcomes.map(of)])
  const widths = ['', ...outcomes].map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  const table = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
  const notes = outcomes.filter(({ note }) => note).map(({ phase, note }) => `${phase}: ${note}`)
  return [...table, ...notes].map((line) => `${line}\n`).join('')
}

function quantile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null
}

function ms(value: number | null): string {
  return value === null ? '' : `${Math.round(value)} ms`
}

function count(value: number): string {
  return value.toLocaleString('en')
}
