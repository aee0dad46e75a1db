import { basename } from 'node:path'
import { badRequest } from '../../errors.js'
import { cellTypeText } from '../../versions/tables/cell-type.js'
import type { StagedTable } from '../../versions/tables/stage-table.js'
import { canAsk, withDialogue } from '../dialogue.js'
import type { CliParts } from '../parts.js'
import { amountOf, printLines } from '../print.js'
import { tableLines } from '../table.js'

/** The options of `das dataset add` for files of other formats. */
export interface ImportFlags {
  readonly encoding?: string
  readonly separator?: string
  readonly sheet?: string
  readonly type?: readonly string[]
  /** False for `--no-header`. */
  readonly header: boolean
  readonly replace?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** A table that was read, and written as Parquet unless it is a dry run. */
export interface Imported {
  /** The file as the owner named it. */
  readonly file: string
  /** The Parquet file, beside it. */
  readonly target: string
  /** An earlier Parquet file was replaced. */
  readonly isReplaced: boolean
  readonly table: StagedTable
}

const yes = 'yes'

/**
 * Shows how a file was read and the types of its columns, and asks whether they are right.
 * @throws bad_request without a terminal and `--yes`; Error if the owner says no
 */
export async function confirmTable(
  parts: CliParts,
  imported: Imported,
  flags: Pick<ImportFlags, 'yes' | 'dryRun' | 'json'>,
): Promise<void> {
  if (flags.json !== true) printLines(parts, ...typeLines(parts, imported), '')
  if (flags.yes === true || flags.dryRun === true) return
  if (flags.json === true || !canAsk(parts)) {
    throw badRequest(
      `The types of ${basename(imported.file)} are guesses: accept them with --yes, or set some ` +
        'with --type column=TYPE. Nothing was written.',
    )
  }
  const question = `Write ${basename(imported.target)} with these types`
  const answer = await withDialogue(parts, (ask) => ask(question, yes))
  if (yes.startsWith(answer.toLowerCase())) return
  throw new Error('Cancelled. Nothing was written. Set types with --type column=TYPE.')
}

function typeLines(parts: CliParts, imported: Imported): readonly string[] {
  const { columns, rows } = imported.table
  const amount = amountOf(parts.stdout, rows, 'row')
  const cells = columns.map(({ name, type, note, samples }) => [
    name,
    cellTypeText(type),
    samples.join(' · '),
    note ?? '',
  ])
  return [
    `${basename(imported.file)}: ${[...formatWords(imported), amount].join(', ')}`,
    '',
    ...tableLines(parts.stdout, ['column', 'type', 'values', 'why'], cells),
  ]
}

function formatWords({ table }: Imported): readonly string[] {
  const { format, encoding, separator } = table
  const separatorWord = separator === '\t' ? 'tab' : `"${separator}"`
  return [
    format,
    ...(encoding === null ? [] : [encoding]),
    ...(separator === null ? [] : [`separator ${separatorWord}`]),
  ]
}

/** How a file was read, in JSON output. */
export function importedJson({ file, target, isReplaced, table }: Imported) {
  return {
    file: basename(file),
    target: basename(target),
    replaced: isReplaced,
    format: table.format.toLowerCase(),
    encoding: table.encoding,
    separator: table.separator,
    rows: table.rows,
    columns: table.columns.map(({ name, type, note, samples, emptyRows }) => ({
      name,
      type: cellTypeText(type),
      why: note,
      samples,
      empty_rows: emptyRows,
    })),
  }
}
