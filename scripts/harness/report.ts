import { tableLines } from '../../src/cli/table.js'

type Cells = readonly (string | number)[]

/** Keeps facts aligned that a script prints one after another. */
const factWidthMin = 12

/** A table in aligned columns, for a terminal and for logs alike. */
export function textTable(titles: readonly string[], rows: readonly Cells[]): string {
  const terminal = { isTTY: true, write: () => undefined }
  return linesText(tableLines(terminal, titles, rows).map((line) => line.trimEnd()))
}

/** A table in Markdown. */
export function markdownTable(titles: readonly string[], rows: readonly Cells[]): string {
  const lines = [titles, titles.map(() => '---'), ...rows]
  return linesText(lines.map((cells) => `| ${cells.join(' | ')} |`))
}

/** Names, each with what was found, one a line. */
export function factsText(facts: readonly (readonly [name: string, fact: string])[]): string {
  const width = Math.max(factWidthMin, ...facts.map(([name]) => name.length))
  return linesText(facts.map(([name, fact]) => `${name.padEnd(width)}  ${fact}`))
}

/** Each line with its end. */
export function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/** A value as indented JSON. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** A number with separated thousands. */
export function count(value: number): string {
  return value.toLocaleString('en')
}

/** Names with how often each occurred. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).sort()
  return words.map(([name, number]) => `${count(number)} × ${name}`).join(', ') || 'none'
}
