import { mkdtemp, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { badRequest } from '../../errors.js'
import { quoted } from '../../text.js'
import { readStatedTypes } from '../../versions/tables/cell-type.js'
import { openTable } from '../../versions/tables/open-table.js'
import { stageTable } from '../../versions/tables/stage-table.js'
import { tableFileOf } from '../../versions/tables/table-file.js'
import type { TableFile } from '../../versions/tables/table-file.js'
import type { TableOptions } from '../../versions/tables/table.js'
import type { CliParts } from '../parts.js'
import { progressReport } from '../progress-bar.js'
import { exists } from './dataset-dictionary.js'
import { confirmTable } from './table-types.js'
import type { ImportFlags, Imported } from './table-types.js'

/** The file that this path names in another format than Parquet; null for all others. */
export async function tableAt(path: string): Promise<TableFile | null> {
  const table = tableFileOf(resolve(path))
  return table && !(await isParquet(path)) ? table : null
}

/**
 * Writes a file of another format as Parquet beside it. A new file appears whole or not at all, and
 * takes the place of an earlier one with `--replace`.
 * @throws TableError for a file that can't be read exactly; bad_request for options that don't fit,
 *   a target that exists, or types that have to be confirmed without a terminal
 */
export async function importTable(
  parts: CliParts,
  file: string,
  tableFile: TableFile,
  flags: ImportFlags,
  memoryLimitBytes: number | null,
): Promise<Imported> {
  const { target } = tableFile
  const isReplaced = await exists(target)
  if (isReplaced && flags.replace !== true) {
    throw badRequest(
      `${shownPath(target)} exists. Add it, or use --replace to write it again from ` +
        `${basename(file)}.`,
    )
  }
  const options = tableOptions(flags, tableFile)
  const stated = readStatedTypes(flags.type ?? [])
  const draft = await makeDraft(target)
  const progress = progressReport(parts, flags.json === true)
  try {
    return await parts.untilInterrupted(async (signal) => {
      const read = await openTable(resolve(file), shownPath(file), tableFile, options)
      const table = await stageTable(read, {
        file: shownPath(file),
        path: join(draft, 'rows.csv'),
        stated,
        signal,
        report: (rowsDone) => progress.report({ what: 'reading', rowsDone, rows: null }),
      })
      progress.end()
      const imported = { file, target, isReplaced, table }
      await confirmTable(parts, imported, flags)
      if (flags.dryRun !== true) {
        const written = join(draft, 'table.parquet')
        await parts.writeTable(table, written, { signal, memoryLimitBytes })
        await publish(written, target)
      }
      return imported
    })
  } finally {
    progress.end()
    await rm(draft, { recursive: true, force: true })
  }
}

/** A path as messages show it. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path)
  if (near === '') return '.'
  return near.startsWith('..') ? path : near
}

function tableOptions(flags: ImportFlags, { format }: TableFile): TableOptions {
  const wrong = format === 'Excel' ? (['encoding', 'separator'] as const) : (['sheet'] as const)
  const given = wrong.find((name) => flags[name] !== undefined)
  if (given !== undefined) throw badRequest(`--${given} is not for ${format} files.`)
  if (format === 'NDJSON' && flags.separator !== undefined) {
    throw badRequest('--separator is not for NDJSON files.')
  }
  return {
    encoding: flags.encoding ?? null,
    separator: flags.separator === undefined ? null : readSeparator(flags.separator),
    sheet: flags.sheet ?? null,
    hasHeader: flags.header,
  }
}

function readSeparator(text: string): string {
  const separator = ['tab', '\\t'].includes(text) ? '\t' : text
  if (separator.length === 1 && !/["\r\n]/.test(separator)) return separator
  throw badRequest(`--separator takes one character or "tab", got ${quoted(text)}.`)
}

/** On the disk of the target, so that the file can be renamed; hidden, so that no glob matches. */
async function makeDraft(target: string): Promise<string> {
  try {
    return await mkdtemp(join(dirname(target), '.das-import-'))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const message = `Can't write to the folder of ${shownPath(target)} (${code}).`
    throw new Error(message, { cause })
  }
}

async function publish(written: string, target: string): Promise<void> {
  const file = await open(written, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
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
