import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { badRequest } from '../../errors.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { printLines } from '../print.js'
import { addSettings } from './add-dataset.js'
import { addEach } from './add-each.js'
import { exists } from './dataset-dictionary.js'

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
  if (await exists(path)) {
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
