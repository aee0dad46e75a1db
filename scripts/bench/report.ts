import { sizeText } from '../../src/cli/print.js'
import { tableLines } from '../../src/cli/table.js'
import { faultsOf } from './findings.js'
import type { Findings } from './findings.js'
import { connections } from './load.js'
import { goalsOf, numberText } from './targets.js'

interface Table {
  readonly titles: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const nothing = '–'

/** The report for people: what was measured, then what was promised. */
export function reportText(findings: Findings): string {
  const terminal = { isTTY: true, write: () => undefined }
  const [figures, goals] = tablesOf(findings).map(({ titles, rows }) =>
    tableLines(terminal, titles, rows),
  )
  const lines = [...aboutOf(findings), '', ...(figures ?? []), '', ...(goals ?? []), '']
  return [...lines, ...notesOf(findings)].map((line) => `${line}\n`).join('')
}

/** The same as Markdown, with the command that made it. */
export function reportMarkdown(findings: Findings, command: string): string {
  const tables = tablesOf(findings).flatMap(({ titles, rows }) => [
    ...[titles, titles.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`),
    '',
  ])
  const notes = notesOf(findings).map((note) => `- ${note}`)
  const about = aboutOf(findings).join('\n')
  return [about, '', `\`${command}\``, '', ...tables, ...notes].map((line) => `${line}\n`).join('')
}

function aboutOf({ machine, data, peers }: Findings): readonly string[] {
  const layout = ({ files, sizeBytes }: Findings['data']['yearly']) =>
    `${files} files (${sizeText(sizeBytes)})`
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`)
  return [
    `${data.rows.toLocaleString('en')} rows × ${data.columns} columns, ` +
      `yearly ${layout(data.yearly)}, packed ${layout(data.packed)}.`,
    `${machine.cpu}, ${machine.cores} cores, ${sizeText(machine.memoryBytes)}; ` +
      `Node ${machine.node}, DuckDB ${machine.duckdb}.`,
    `Peers: ${versions.length === 0 ? 'none asked' : versions.join(', ')}.`,
  ]
}

function tablesOf(findings: Findings): readonly Table[] {
  const { contestants } = findings
  const measured = {
    titles: ['workload', ...contestants],
    rows: [...timeRows(findings), ...walkRows(findings), ...loadRows(findings)],
  }
  const promised = {
    titles: ['promised', '', 'reached', ''],
    rows: goalsOf(findings).map(({ name, words, reached, isMet }) => [
      name,
      words,
      reached ?? nothing,
      reached === null ? 'not measured' : isMet ? 'met' : 'missed',
    ]),
  }
  return [measured, promised]
}

/** A row of one figure for each contestant. */
function rowOf<T extends { readonly contestant: string }>(
  findings: Findings,
  title: string,
  results: readonly T[],
  figure: (result: T) => string,
): readonly string[] {
  const cells = findings.contestants.map((name) => {
    const result = results.find(({ contestant }) => contestant === name)
    return result ? figure(result) : nothing
  })
  return [title, ...cells]
}

function timeRows(findings: Findings): readonly (readonly string[])[] {
  return findings.workloads.map(({ name, title, timed }) =>
    rowOf(findings, `${name} ${title}`, timed, ({ medianMs, fault }) =>
      medianMs === null
        ? 'failed'
        : [`${numberText(medianMs)} ms`, ...(fault === null ? [] : ['(wrong)'])].join(' '),
    ),
  )
}

function walkRows(findings: Findings): readonly (readonly string[])[] {
  const { walks } = findings
  if (walks.length === 0) return []
  return [
    rowOf(findings, 'W6 walk: pages', walks, ({ pages }) => String(pages)),
    rowOf(findings, 'W6 these pages', walks, ({ totalMs }) => `${numberText(totalMs / 1000)} s`),
    rowOf(findings, 'W6 a page of it', walks, ({ pageMs }) => `${numberText(pageMs)} ms`),
    rowOf(findings, 'W6 last page ÷ first', walks, ({ firstPageMs, lastPageMs }) =>
      numberText(lastPageMs / firstPageMs),
    ),
    rowOf(findings, 'W6 rows twice, missed', walks, ({ twice, missed }) => `${twice}, ${missed}`),
  ]
}

function loadRows(findings: Findings): readonly (readonly string[])[] {
  const { loads } = findings
  if (loads.length === 0) return []
  return [
    rowOf(
      findings,
      `W7 W1 from ${connections} connections, requests/s`,
      loads,
      ({ requestsPerSecond }) => numberText(requestsPerSecond),
    ),
    rowOf(findings, 'W7 p50, p99', loads, ({ p50Ms, p99Ms }) =>
      [p50Ms, p99Ms].map((ms) => `${numberText(ms)} ms`).join(', '),
    ),
  ]
}

function notesOf(findings: Findings): readonly string[] {
  const { memory, memoryLimitBytes, overhead, loads } = findings
  const [asked] = findings.workloads
  const engineLoads = loads.some(({ contestant }) => contestant.startsWith('engine'))
  return [
    ...(asked ? [`W1 to W5: medians of ${asked.rounds} rounds, to the last byte.`] : []),
    ...(engineLoads ? ['The engine has no connections: W7 is a loop for each core.'] : []),
    ...(overhead
      ? [
          `Overhead: ${numberText(overhead.httpMs)} ms over HTTP, ${numberText(overhead.engineMs)} ` +
            `ms in the product's engine, medians of ${overhead.asked} look-ups.`,
        ]
      : []),
    ...(memory
      ? [
          `Memory over ${memory.minutes} minutes of ${memory.load.requests} requests ` +
            `(${memory.load.failed} failed): ` +
            `${memory.minuteBytes === null ? '' : `${sizeText(memory.minuteBytes)} after one minute, `}` +
            `${sizeText(memory.endBytes)} at the end, ${sizeText(memory.maxBytes)} at most; ` +
            `limit ${sizeText(memoryLimitBytes)}.`,
        ]
      : []),
    ...faultsOf(findings),
  ]
}
