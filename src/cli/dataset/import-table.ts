import { existsSync } from 'node:fs'
import { mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { badRequest } from '../../errors.js'
import { quoted } from '../../text.js'
import { draftName } from '../../versions/tables/import-table.js'
import type { ImportedTable } from '../../versions/tables/import-table.js'
import { tableFileOf } from '../../versions/tables/table-file.js'
import type { TableFile } from '../../versions/tables/table-file.js'
import { TableError } from '../../versions/tables/table.js'
import type { TableFormat, TableOrder } from '../../versions/tables/table.js'
import type { CliParts } from '../parts.js'
import { amountOf, printLines } from '../print.js'
import { listLines } from '../table.js'
import { progressReport } from '../progress.js'

/** The options of `das dataset add` for files of other formats. */
export interface ImportFlags {
  readonly encoding?: string
  readonly separator?: string
  readonly sheet?: string
  readonly type?: readonly string[]
  readonly empty?: readonly string[]
  readonly skipLines?: string
  readonly skipLastRows?: string
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

/** The file that this path names in another format than Parquet; null for all others. */
export async function tableAt(path: string): Promise<TableFile | null> {
  const table = tableFileOf(resolve(path))
  return table && !(await isParquet(path)) ? table : null
}

/**
 * Writes a file of another format as Parquet beside it. A new file appears whole or not at all, and
 * takes the place of an earlier one with `--replace`.
 * @throws TableError for a file that can't be read exactly; bad_request for options that don't fit,
 *   a target that exists, or types that are not accepted with `--yes`
 */
export async function importTable(
  parts: CliParts,
  file: string,
  tableFile: TableFile,
  flags: ImportFlags,
  memoryLimitBytes: number | null,
): Promise<Imported> {
  const { target } = tableFile
  const isReplaced = existsSync(target)
  if (isReplaced && flags.replace !== true) {
    throw badRequest(
      `${shownPath(target)} exists. Add it, or write it again from the file with --replace.`,
    )
  }
  const order = orderOf(file, tableFile, flags)
  const draft = await makeDraft(target, parts.clock.now())
  const progress = progressReport(parts, flags.json === true)
  const report = (rowsDone: number) => progress.report({ what: 'reading', rowsDone, rows: null })
  try {
    return await parts.untilInterrupted(async (signal) => {
      const tableOrder = { ...order, draft, memoryLimitBytes }
      const table = await parts.importTable(tableOrder, { signal, report })
      progress.end()
      const imported = { file, format: order.format, target, isReplaced, table }
      if (flags.json !== true) printLines(parts, ...understoodLines(parts, imported), '')
      if (flags.dryRun !== true) requireAccepted(imported, flags)
      if (flags.dryRun !== true) await publish(join(draft, draftName), target)
      return imported
    })
  } finally {
    progress.end()
    await rm(draft, { recursive: true, force: true })
  }
}

/** @throws TableError for what is not certain; bad_request without `--yes` */
function requireAccepted({ file, table }: Imported, { yes }: ImportFlags): void {
  const name = basename(file)
  if (table.doubts.length > 0) {
    const problem = `error: the reading of ${name} is not certain, so nothing was written:`
    throw new TableError(problem, ...table.doubts.map((doubt) => `  ${doubt}`))
  }
  if (yes === true) return
  throw badRequest(
    `The types of ${name} are guesses: accept them with --yes, set some with --type column=TYPE, ` +
      'or name a text that means no value with --empty TEXT. Nothing was written.',
  )
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
  return [
    `${basename(file)}: ${words.filter(Boolean).join(', ')}`,
    ...notes,
    ...doubts.map((doubt) => `not certain: ${doubt}`),
    '',
    ...listLines(parts.stdout, table.columns, {
      column: (each) => each.name.replace(/\s+/g, ' '),
      type: (each) => each.type,
      values: (each) => each.samples.join(' · '),
      why: (each) => each.why ?? '',
    }),
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

/** A path as messages show it. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path)
  if (near === '') return '.'
  return near.startsWith('..') ? path : near
}

/** Options for files of other formats, and the formats that each is for. */
export const tableOptions = [
  ['encoding', '--encoding', ['CSV', 'NDJSON']],
  ['separator', '--separator', ['CSV']],
  ['sheet', '--sheet', ['Excel']],
  ['skipLines', '--skip-lines', ['CSV', 'Excel']],
  ['skipLastRows', '--skip-last-rows', ['CSV', 'Excel']],
  ['header', '--header', ['CSV', 'Excel']],
  ['type', '--type', ['CSV', 'Excel', 'NDJSON']],
  ['empty', '--empty', ['CSV', 'Excel', 'NDJSON']],
] as const

function orderOf(
  file: string,
  { format }: TableFile,
  flags: ImportFlags,
): Omit<TableOrder, 'draft' | 'memoryLimitBytes'> {
  for (const [name, option, formats] of tableOptions) {
    if (flags[name] === undefined || formats.some((each) => each === format)) continue
    throw badRequest(`${option} is not for ${format} files.`)
  }
  const { encoding = null, separator, sheet = null, header = null, skipLines = '0', type } = flags
  const { empty = [] } = flags
  const isTab = separator === 'tab' || separator === '\\t'
  if (separator !== undefined && !isTab && !/^[^"\r\n]$/.test(separator)) {
    throw badRequest(`--separator takes one character or "tab", got ${quoted(separator)}.`)
  }
  const { skipLastRows } = flags
  if (!/^\d{1,6}$/.test(skipLines)) {
    throw badRequest(`--skip-lines takes a number of lines, got ${quoted(skipLines)}.`)
  }
  if (skipLastRows !== undefined && !/^\d{1,4}$/.test(skipLastRows)) {
    throw badRequest(`--skip-last-rows takes a number of rows, got ${quoted(skipLastRows)}.`)
  }
  return {
    ...{ path: resolve(file), file: shownPath(file), format, encoding, sheet, types: type ?? [] },
    ...{ separator: isTab ? '\t' : (separator ?? null), hasHeader: header },
    empties: empty.map((text) => text.trim()),
    skipLines: Number(skipLines),
    skipLastRows: skipLastRows === undefined ? null : Number(skipLastRows),
  }
}

const draftStart = '.das-import-'
/** No import takes as long. */
const draftMsMax = 24 * 3_600_000

/** Removes what imports left that were killed, as far as it can. */
async function removeAbandoned(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(draftStart)) continue
    const path = join(folder, name)
    // Another import may have removed it, or another user may own it.
    const age = await stat(path).then(
      ({ mtimeMs }) => now - mtimeMs,
      () => 0,
    )
    if (age > draftMsMax) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

/** On the disk of the target, so that the file can be renamed; hidden, so that no glob matches. */
async function makeDraft(target: string, now: number): Promise<string> {
  try {
    const folder = dirname(target)
    await removeAbandoned(folder, now)
    return await mkdtemp(join(folder, draftStart))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const message = `Can't write to the folder of ${shownPath(target)} (${code}).`
    throw new Error(message, { cause })
  }
}

async function publish(written: string, target: string): Promise<void> {
  await using file = await open(written)
  await file.sync()
  await rename(written, target)
}

async function isParquet(path: string): Promise<boolean> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4))
    return buffer.toString('latin1', 0, bytesRead) === 'PAR1'
  } catch {
    // `readPaths` reports a path that can't be read.
    return true
  }
}
