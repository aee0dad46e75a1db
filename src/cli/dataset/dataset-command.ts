import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { badRequest } from '../../errors.js'
import { addDatasetCheck } from '../check/dataset-check.js'
import { addCommand, addGroup, collect, printResult, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { printLines } from '../print.js'
import { addDataset, addSettings } from './add-dataset.js'
import type { AddFlags } from './add-dataset.js'
import { addEach } from './add-each.js'
import { addDatasetList } from './dataset-list.js'
import { addDatasetPack } from './dataset-pack.js'
import { addDatasetReload } from './dataset-reload.js'

/** `das dataset …`: adds, lists, checks, packs and reloads datasets. */
export function addDatasetCommands(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'dataset',
    'Add, list, check, pack and reload datasets.',
    'das dataset add sales.parquet',
  )
  addDatasetAdd(group, parts)
  addDatasetList(group, parts)
  addDatasetCheck(group, parts)
  addDatasetPack(group, parts)
  addDatasetReload(group, parts)
}

/** `das dataset add`. */
function addDatasetAdd(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'add <path...>',
    description:
      'Add Parquet files to the registry as a dataset: one file, several, a folder, a glob or a ' +
      'hive tree. A CSV, Excel or NDJSON file is written as Parquet beside it first, with types ' +
      'guessed from all rows. Name, title, key and history column are guessed: options set them.',
    options: (command) => importOptions(addOptions(command)),
    settings: addSettings,
    json: 'print {name, written, title, files, key, history, dictionary, imported, rows, …}',
    examples: [
      'das dataset add sales.parquet',
      "das dataset add 'data/sales/*.parquet' --name sales --key id --history year --yes",
      'das dataset add data/events --dry-run',
      'das dataset add sales.csv --encoding windows-1251 --type code=text --yes',
      'das dataset add incoming --each --yes',
    ],
  }).action(async (paths: readonly string[], flags: AddFlags & { readonly each?: boolean }) => {
    const config = readSettings(addSettings, flags, parts.environment)
    if (flags.each === true) {
      await addEach(parts, paths, flags, config)
      return
    }
    printResult(parts, flags, await addDataset(parts, paths, flags, config))
  })
}

function addOptions(command: Command): Command {
  return command
    .option('--name <name>', 'name in URLs: a-z, 0-9 and "_"')
    .option('--title <text>', 'title of the dataset')
    .option('--title-ru <text>', 'the same in Russian, for the portal and letters')
    .option('--description <text>', 'meaning of a row and of an empty value')
    .option('--source <text>', 'origin of the data')
    .option('--key <columns>', 'comma-separated columns for look-ups')
    .option('--no-key', 'declare no key')
    .option('--history <column>', 'column in which plans count years')
    .option('--no-history', 'declare no history column')
    .option('--no-dictionary', 'create no file for units and descriptions')
    .option('--listed', 'list it for visitors without a token')
    .option('--each', 'make each file of the folders a dataset of its own')
    .option('-y, --yes', 'accept the types of a CSV, Excel or NDJSON file as guessed')
    .option('--dry-run', 'print the entry; change no file')
}

/** Options for files of other formats. */
function importOptions(command: Command): Command {
  return command
    .option('--encoding <label>', 'encoding of a CSV or NDJSON file (default: recognised)')
    .option('--separator <character>', 'separator of a CSV file, or "tab" (default: recognised)')
    .option('--sheet <name>', 'sheet of an Excel file (default: the first that is visible)')
    .option(
      '--type <column=type>',
      'type of a column: text, integer, decimal, decimal(18,2), double, boolean, date, ' +
        'timestamp or instant; can be repeated',
      collect,
    )
    .option('--empty <text>', 'text that means no value, such as NA; can be repeated', collect)
    .option('--skip-lines <count>', 'lines of a CSV, or rows of a sheet, above the table')
    .option('--skip-last-rows <count>', 'rows below the table: a total, notes; 0 if all are data')
    .option('--header', 'the first row has the names of the columns (default: recognised)')
    .option('--no-header', 'the first row is data; the columns are column1, column2, …')
    .option('--replace', 'write a Parquet file that exists again')
}

/** `das init`: writes a first registry. */
export function addInit(program: Command, parts: CliParts): void {
  addCommand(program, {
    usage: 'init [folder]',
    description:
      'Write a first registry.yaml with comments. Each Parquet, CSV, Excel or NDJSON file of the ' +
      'folder (default: that of the registry) becomes a dataset, as by das dataset add --each.',
    settings: addSettings,
    json: 'print {added: [{name, title, files, key, …}], failed: [{file, error}], unchanged}',
    examples: ['das init', 'das init data --registry /etc/das/registry.yaml'],
  }).action((folder: string | undefined, flags: Flags) => init(parts, folder, flags))
}

/** @throws bad_request if there is a registry, or no file to add */
async function init(parts: CliParts, folder: string | undefined, flags: Flags): Promise<void> {
  const config = readSettings(addSettings, flags, parts.environment)
  const path = config.registry
  if (existsSync(path)) {
    throw badRequest(`${path} exists already. To add to it: das dataset add FILE`)
  }
  const from = folder ?? dirname(resolve(path))
  await addEach(parts, [from], { ...flags, yes: true, dictionary: true }, config)
  if (flags.json) return
  printLines(
    parts,
    '',
    `Edit titles, keys and plans in ${path}. Then:`,
    '  $ das dataset check',
    '  $ das serve',
  )
}
