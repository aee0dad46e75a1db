import { sizeText } from '../../src/cli/print.js'
import { count, linesText, markdownTable } from '../harness/report.js'
import { faultsOf } from './findings.js'
import type { Findings } from './findings.js'
import { connections } from './load.js'
import { goalsOf, numberText } from './targets.js'

interface Table {
  readonly titles: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const nothing = '–'

/** The report: what was measured, then each target with its result; with the command that made it. */
export function reportMarkdown(findings: Findings, command: string): string {
  const tables = tablesOf(findings).map(({ titles, rows }) => markdownTable(titles, rows))
  const notes = notesOf(findings).map((note) => `- ${note}`)
  const blocks = [linesText(aboutOf(findings)), `\`${command}\`\n`, ...tables, linesText(notes)]
  return blocks.join('\n')
}

function aboutOf({ machine, data, peers }: Findings): readonly string[] {
  const layout = ({ files, sizeBytes }: Findings['data']['yearly']) =>
    `${files} files (${sizeText(sizeBytes)})`
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`)
  return [
    `${count(data.rows)} rows × ${data.columns} columns, ` +
      `yearly ${layout(data.yearly)}, packed ${layout(data.packed)}.`,
    `${machine.cpu}, ${machine.cores} cores, ${sizeText(machine.memoryBytes)}; ` +
      `Node ${machine.node}, DuckDB ${machine.duckdb}.`,
    `Peers: ${versions.length === 0 ? 'none asked' : versions.join(', ')}.`,
  ]
}

function tablesOf(findings: Findings): readonly Table[] {
  const { contestants } = findings
  const figures = {
    titles: ['workload', ...contestants],
    rows: [...timeRows(findings), ...walkRows(findings), ...loadRows(findings)],
  }
  const targets = {
    titles: ['target', '', 'measured', ''],
    rows: goalsOf(findings).map(({ name, words, measured, isMet }) => [
      name,
      words,
      measured ?? nothing,
      measured === null ? 'not measured' : isMet ? 'met' : 'missed',
    ]),
  }
  return [figures, targets]
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
    rowOf(
      findings,
      'W6 rows duplicated, missing',
      walks,
      ({ duplicated, missing }) => `${duplicated}, ${missing}`,
    ),
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
  const notes: string[] = []
  if (asked) notes.push(`W1 to W5: medians of ${asked.rounds} rounds, to the last byte.`)
  if (loads.some(({ contestant }) => contestant.startsWith('engine'))) {
    notes.push('The engine has no connections: W7 is a loop for each core.')
  }
  if (overhead) {
    const [http, engine] = [overhead.httpMs, overhead.engineMs].map(numberText)
    const medians = `medians of ${overhead.asked} look-ups`
    notes.push(`Overhead: ${http} ms over HTTP, ${engine} ms in the product's engine, ${medians}.`)
  }
  if (memory) {
    const { minutes, load, minuteBytes, maxBytes } = memory
    notes.push(
      `Memory over ${minutes} minutes of ${load.requests} requests (${load.failed} failed): ` +
        `${minuteBytes.map(sizeText).join(', ')} after each minute, ` +
        `${sizeText(maxBytes)} at most; limit ${sizeText(memoryLimitBytes)}.`,
    )
  }
  return [...notes, ...faultsOf(findings)]
}
