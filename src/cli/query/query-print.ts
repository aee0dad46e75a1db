import { plainText } from '../../plain-text.js'
import { textsOf } from '../../row-texts.js'
import type { RowTexts } from '../../row-texts.js'
import type { CliParts } from '../parts.js'
import { fittedTable } from '../table.js'
import { cellText, fileSink, outputSink, requireSameColumns, titlesOf } from './query-output.js'
import type { RowFormat, ServedColumns } from './query-output.js'
import type { Batch } from './query-rows.js'

/** Also prints the rows before a failure, because they are paid for. */
export async function printTable(
  { stdout, stderr }: CliParts,
  names: readonly string[],
  columns: ServedColumns,
  batches: AsyncIterable<Batch>,
): Promise<void> {
  const types = new Map(columns?.map(({ name, type }) => [name, type]))
  const rows: RowTexts[] = []
  let note: string | null = null
  const show = () => {
    const titles = rows[0] ? titlesOf(rows[0]) : names
    const shown = titles.map((name, at) => ({
      name,
      isNumber: columns
        ? isNumber(types.get(name))
        : rows.every(({ cells }) => isDigits(cells[at])),
    }))
    const cells = rows.map((row) => row.cells.map(cellText))
    const { lines, leftOut } = fittedTable(shown, cells, stdout.columns ?? null)
    stdout.write(`${lines.join('\n')}\n`)
    if (leftOut.length > 0) {
      const list = leftOut.map(plainText).join(', ')
      stderr.write(`note: ${leftOut.length} columns do not fit on the screen: ${list}\n`)
    }
    if (note !== null) stderr.write(noteText(note))
  }
  try {
    for await (const batch of batches) {
      const texts = batch.rows.map(textsOf)
      for (const row of texts) requireSameColumns((rows[0] ?? row).names, row.names)
      rows.push(...texts)
      note = batch.note
    }
  } catch (cause) {
    if (rows.length > 0) show()
    throw cause
  }
  show()
}

function isNumber(type: string | undefined): boolean {
  return type === 'integer' || type === 'number'
}

/** Also true for an empty cell. */
function isDigits(cell = 'null'): boolean {
  return cell === 'null' || /^-?\d/.test(cell)
}

/** Writes the rows in a format; what arrived before a failure stays in the file. */
export async function writeRows(
  parts: CliParts,
  output: string | undefined,
  format: RowFormat,
  batches: AsyncIterable<Batch>,
): Promise<void> {
  const sink = output === undefined ? outputSink(parts) : await fileSink(output)
  let note: string | null = null
  try {
    for await (const batch of batches) {
      await sink.write(format.rows(batch.rows))
      note = batch.note
    }
    await sink.write(format.end())
    await sink.finish()
  } catch (cause) {
    const part = await sink.abandon()
    if (part) parts.stderr.write(`note: ${part} holds the rows that arrived.\n`)
    if (note !== null) parts.stderr.write(noteText(note))
    throw cause
  }
  if (note !== null) parts.stderr.write(noteText(note))
}

function noteText(note: string): string {
  return `note: ${plainText(note)}\n`
}
