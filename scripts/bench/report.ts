import { availableParallelism, cpus, totalmem } from 'node:os'
import { sizeText } from '../../src/cli/print.js'
import { count, linesText, markdownTable } from '../harness/report.js'
import type { Field } from './field.js'
import type { Facts } from './data.js'
import type { Line, Measured } from './measure.js'

/** The contestant that ratios are of, and the one that they are to. */
const [own, peer] = ['das, packed', 'PostgreSQL + FastAPI']
const nothing = ''

/** What a run found, as Markdown: each figure, and that of das to the peer's. */
export function reportMarkdown(facts: Facts, field: Field, measured: Measured): string {
  const names = field.contestants.map(({ name }) => name)
  const titles = ['', 'Workload', ...names, 'das ÷ PostgreSQL']
  const rows = measured.lines.map((line) => [
    line.name,
    `${line.title}, ${line.unit}`,
    ...names.map((name) => figureText(line.figures[name])),
    ratioText(line),
  ])
  const { sizeBytes, files, columns } = facts
  const about = [
    `${count(facts.rows)} rows × ${columns.length} columns in ${files.length} files ` +
      `(${sizeText(sizeBytes)}); ${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} ` +
      `cores that the clients share, ${sizeText(totalmem())}; Node.js ${process.version}.`,
    ...field.facts.map(([name, fact]) => `${name}: ${fact}.`),
    ...measured.notes,
    ...measured.faults.map((fault) => `**wrong**: ${fault}`),
  ]
  return `${markdownTable(titles, rows)}\n${linesText(about.map((line) => `- ${line}`))}`
}

function ratioText({ figures }: Line): string {
  const [ours, theirs] = [figures[own], figures[peer]]
  return ours === undefined || theirs === undefined ? nothing : `${figureText(ours / theirs)} ×`
}

/** Three digits, or a whole number. */
function figureText(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return nothing
  if (Math.abs(value) >= 100) return count(Math.round(value))
  return value.toFixed(value >= 10 ? 1 : 2)
}
