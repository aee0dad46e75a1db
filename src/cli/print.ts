import type { CliParts, Output } from './parts.js'

const narrowSpace = '\u202f'

/** Milliseconds since 1970 as a day in UTC: 2026-11-21. */
export function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Milliseconds since 1970 to the minute, for people: 2026-11-21 05:14 UTC. */
export function minute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** A whole number; on a terminal with its thousands set apart by narrow no-break spaces. */
export function count(output: Output, value: number): string {
  if (!output.isTTY) return String(value)
  return String(value).replace(/\B(?=(\d{3})+$)/g, narrowSpace)
}

/** `1 row`, `2 rows`; the number as `count` writes it. */
export function amountOf(output: Output, value: number, noun: string): string {
  return `${count(output, value)} ${noun}${value === 1 ? '' : 's'}`
}

const sizeUnits = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes in a table; on a terminal to three digits with their unit. */
export function size(output: Output, bytes: number): string {
  return output.isTTY ? sizeText(bytes) : String(bytes)
}

/** Bytes to three digits with a decimal unit: 2.15 GB. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < sizeUnits.length - 1) [value, unit] = [value / 1000, unit + 1]
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${value.toFixed(digits)} ${sizeUnits[unit]}`
}

/** Writes lines to a command's standard output. */
export function printLines(parts: CliParts, ...lines: readonly string[]): void {
  parts.stdout.write(`${lines.join('\n')}\n`)
}

/** Writes a value as JSON to a command's standard output. */
export function printJson(parts: CliParts, value: unknown): void {
  printLines(parts, JSON.stringify(value, null, 2))
}
