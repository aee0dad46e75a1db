import { linesText, markdownTable } from '../harness/report.js'
import { fitCosts, predictMs } from './costs.js'
import type { Form } from './form.js'
import type { Case } from './questions.js'
import type { Timing } from './rounds.js'
import { workParts } from './work.js'

/** All that a run has found. */
interface Findings {
  readonly years: number
  readonly rows: number
  readonly memoryLimit: string
  readonly forms: readonly Form[]
  readonly timings: readonly Timing[]
}

/** The tables of a run: sizes, times, and CPU times. */
export function reportMarkdown(findings: Findings, cases: readonly Case[]): string {
  const names = findings.forms.map(({ name }) => name)
  const sizes = findings.forms.map((form) => {
    const files = form.kind === 'native' ? 1 : form.files.length
    return `${files}, ${(form.sizeBytes / 1e9).toFixed(2)} GB`
  })
  const rowsOf = (cell: (timing: Timing) => string) =>
    cases.flatMap(({ name, title }) => {
      const timings = findings.timings.filter((timing) => timing.case === name)
      if (timings.length === 0) return []
      const cells = names.map((form) => {
        const timing = timings.find((each) => each.form === form)
        return timing ? cell(timing) : '–'
      })
      return [[`${name} ${title}`, ...cells]]
    })
  const times = rowsOf(({ medianMs, p95Ms }) => `${figure(medianMs)} (${figure(p95Ms)})`)
  const cpu = rowsOf(({ cpuMs }) => figure(cpuMs))
  const { years, rows, memoryLimit } = findings
  return linesText([
    `Years: ${years}; rows: ${rows.toLocaleString('en')}; memory limit of DuckDB: ${memoryLimit}.`,
    '',
    markdownTable(
      ['median (95th percentile), ms', ...names],
      [['files, size', ...sizes], ...times],
    ),
    markdownTable(['CPU time, median ms', ...names], cpu),
    ...allCosts(findings.timings),
  ])
}

/** The medians of one case, for a log. */
export function timingsText(timings: readonly Timing[]): string {
  return timings
    .map(({ form, asked, medianMs, p95Ms, cpuMs }) => {
      return `${form} ${figure(medianMs)} (${figure(p95Ms)}) CPU ${figure(cpuMs)}, ${asked} asked`
    })
    .join('; ')
}

/** What the parts of the work cost in some forms, and how well that predicts the run's times. */
function costsMarkdown(timings: readonly Timing[]): string {
  const costs = fitCosts(timings)
  const rows = timings.map((timing) => {
    const predicted = predictMs(costs, timing.work)
    const ratio = (predicted / timing.cpuMs).toFixed(2)
    return [timing.case, timing.form, figure(timing.cpuMs), figure(predicted), ratio]
  })
  const parts = workParts.map((part) => [part, costs[part].toPrecision(3)])
  return [
    markdownTable(['part of the work', 'CPU time, µs'], parts),
    markdownTable(['question', 'form', 'CPU time, ms', 'predicted', 'ratio'], rows),
  ].join('\n')
}

/**
 * The costs in Parquet forms: dropped files have another codec and other encodings than those that
 * are made. A question that is asked again is not predicted.
 */
function allCosts(timings: readonly Timing[]): readonly string[] {
  const known = timings.filter(({ work, case: name }) => work.files > 0 && !name.endsWith('hot'))
  const groups = [
    known.filter(({ form }) => form !== 'yearly'),
    known.filter(({ form }) => form === 'yearly'),
  ]
  return groups.filter((group) => group.length > 0).map(costsMarkdown)
}

/** Three digits that count. */
function figure(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms.toPrecision(ms >= 10 ? 3 : 2)
}
