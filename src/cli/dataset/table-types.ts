import { basename } from 'node:path'
import { badRequest } from '../../errors.js'
import type { ImportedTable } from '../../versions/tables/import-table.js'
import { TableError } from '../../versions/tables/table.js'
import type { TableFormat } from '../../versions/tables/table.js'
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
  readonly skipLines?: string
  /** True for `--header`, false for `--no-header`. */
  readonly header?: boolean
  readonly replace?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** A table that was read, and written as Parquet unless it is a dry run. */
export interface Imported {
  /** The file as the owner named it. */
  readonly file: string
  readonly format: TableFormat
  /** The Parquet file, beside it. */
  readonly target: string
  /** An earlier Parquet file was replaced. */
  readonly isReplaced: boolean
  readonly table: ImportedTable
}

const yes = 'yes'

/**
 * Shows how a file was understood and the types of its columns, and asks whether that is right.
 * @throws TableError for what is not certain, and bad_request, if nobody can be asked; Error if the
 *   owner says no
 */
export async function confirmTable(
  parts: CliParts,
  imported: Imported,
  flags: Pick<ImportFlags, 'yes' | 'dryRun' | 'json'>,
): Promise<void> {
  const { doubts } = imported.table
  const file = basename(imported.file)
  if (flags.json !== true) printLines(parts, ...understoodLines(parts, imported), '')
  if (flags.dryRun === true) return
  const canBeAsked = flags.yes !== true && flags.json !== true && canAsk(parts)
  if (doubts.length > 0 && !canBeAsked) {
    const problem = `error: the reading of ${file} is not certain, so nothing was written:`
    throw new TableError(problem, ...doubts.map((doubt) => `  ${doubt}`))
  }
  if (flags.yes === true) return
  if (!canBeAsked) {
    throw badRequest(
      `The types of ${file} are guesses: accept them with --yes, or set some with ` +
        '--type column=TYPE. Nothing was written.',
    )
  }
  const question = `Write ${basename(imported.target)} with these types`
  const answer = await withDialogue(parts, (ask) => ask(question, yes))
  if (yes.startsWith(answer.toLowerCase())) return
  throw new Error('Cancelled. Nothing was written. Set types with --type column=TYPE.')
}

function understoodLines(parts: CliParts, { file, format, table }: Imported): readonly string[] {
  const { encoding, separator, sheet, headerLine, rows, notes, doubts } = table
  const place = `header in ${format === 'Excel' ? 'row' : 'line'} ${headerLine}`
  const words = [
    format,
    encoding,
    separator && `separator ${separator === '\t' ? 'tab' : `"${separator}"`}`,
    sheet && `sheet "${sheet}"`,
    format !== 'NDJSON' && (headerLine === null ? 'no header' : place),
    amountOf(parts.stdout, rows, 'row'),
  ]
  const cells = table.columns.map(({ name, type, why, samples }) => {
    return [name, type, samples.join(' · '), why ?? '']
  })
  return [
    `${basename(file)}: ${words.filter(Boolean).join(', ')}`,
    ...notes,
    ...doubts.map((doubt) => `not certain: ${doubt}`),
    '',
    ...tableLines(parts.stdout, ['column', 'type', 'values', 'why'], cells),
  ]
}

/** How a file was understood, in JSON output. */
export function importedJson({ file, format, target, isReplaced, table }: Imported) {
  const { headerLine, columns, ...rest } = table
  return {
    file: basename(file),
    target: basename(target),
    replaced: isReplaced,
    format: format.toLowerCase(),
    ...rest,
    header_line: headerLine,
    columns: columns.map(({ emptyRows, ...column }) => ({ ...column, empty_rows: emptyRows })),
  }
}
