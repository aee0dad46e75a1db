import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { badRequest } from '../../errors.js'
import { readRegistryText } from '../../registry/write-registry.js'
import { tableFileOf } from '../../versions/tables/table-file.js'
import { exitFailureOf } from '../exit-failure.js'
import type { CliParts } from '../parts.js'
import { amountOf, printJson, printLines } from '../print.js'
import { addDataset } from './add-dataset.js'
import type { AddConfig, AddFlags } from './add-dataset.js'
import { shownPath } from './import-table.js'
import { fileEnding, listedFiles } from './source-paths.js'

interface Failed {
  readonly file: string
  readonly error: string
}

/** Options that fit one dataset only. */
const single = [
  ['name', '--name'],
  ['title', '--title'],
  ['titleRu', '--title-ru'],
  ['description', '--description'],
  ['sheet', '--sheet'],
  ['type', '--type'],
] as const

/**
 * Adds each file of the folders as a dataset of its own. A file that can't be added does not stop
 * the others. A file that is a dataset already is left as it is, unless `--replace` is given.
 * @throws Error at the end if a file was not added
 */
export async function addEach(
  parts: CliParts,
  folders: readonly string[],
  flags: AddFlags,
  config: AddConfig,
): Promise<void> {
  for (const [name, option] of single) {
    if (flags[name] !== undefined) throw badRequest(`${option} is for one dataset, not for --each.`)
  }
  const files: string[] = []
  for (const folder of folders) files.push(...(await filesIn(folder)))
  const added: unknown[] = []
  const failed: Failed[] = []
  const known: string[] = []
  for (const file of files) {
    try {
      if (await isKnown(file, flags, config)) known.push(file)
      else {
        const { json, lines, failure } = await addDataset(parts, [file], flags, config)
        if (flags.json !== true) printLines(parts, ...lines, '')
        if (failure) throw failure
        added.push(json)
      }
    } catch (cause) {
      const { lines } = exitFailureOf(cause)
      failed.push({ file: basename(file), error: lines.join('\n').replace(/^error: /, '') })
      parts.stderr.write(`${lines.join('\n')}\n`)
    }
  }
  if (flags.json) {
    printJson(parts, { added, failed, unchanged: known.map((file) => basename(file)) })
  } else printLines(parts, ...summaryLines(parts, flags, added.length, known))
  if (failed.length === 0) return
  const names = failed.map(({ file }) => file).join(', ')
  throw new Error(`${failed.length} of ${files.length} files were not added: ${names}`)
}

/** The tables of a folder, without dictionaries and without Parquet written from another file. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) {
    throw badRequest(`${folder} is not a folder: name folders with --each.`)
  }
  const names = (await readdir(folder)).filter((name) => !/^\.|\.columns\.csv$/i.test(name)).sort()
  const tables = names.filter((name) => tableFileOf(name) !== null)
  const targets = new Set(tables.map((name) => tableFileOf(name)?.target))
  const parquet = names.filter((name) => fileEnding.test(name) && !targets.has(name))
  const files = [...tables, ...parquet].sort().map((name) => resolve(join(folder, name)))
  if (files.length > 0) return files
  throw badRequest(`${shownPath(resolve(folder))} has no CSV, Excel, NDJSON or Parquet file.`)
}

/** Whether the file, or the Parquet that was written from it, is in the registry. */
async function isKnown(file: string, flags: AddFlags, config: AddConfig): Promise<boolean> {
  const table = tableFileOf(file)
  if (table && (flags.replace === true || !existsSync(table.target))) return false
  const before = await readRegistryText(config.registry)
  const listed = await listedFiles(before, dirname(resolve(config.registry)))
  return [...listed.values()].some((paths) => paths.includes(table?.target ?? file))
}

function summaryLines(
  { stdout }: CliParts,
  { dryRun }: AddFlags,
  added: number,
  known: readonly string[],
): readonly string[] {
  const names = known.map((file) => basename(file)).join(', ')
  return [
    `${dryRun === true ? 'Would add' : 'Added'} ${amountOf(stdout, added, 'dataset')}.`,
    ...(known.length === 0 ? [] : [`Already datasets, and left as they are: ${names}`]),
  ]
}
