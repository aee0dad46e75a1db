import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { backUp } from '../control/store/backup.js'
import { controlMigrations } from '../control/store/migrations.js'
import { ControlStore } from '../control/store/store.js'
import { addCommand, readSettings } from './command.js'
import type { Flags } from './command.js'
import type { CliParts } from './parts.js'
import { printJson, printLines } from './print.js'
import { readFilledStore, withFilledStore } from './state.js'

const newest = controlMigrations.length

/** `das migrate`: upgrades control.db without a start of the server, or only tries to. */
export function addMigrate(program: Command, parts: CliParts): void {
  addCommand(program, {
    usage: 'migrate',
    description:
      'Upgrade control.db to the schema of this release, as das serve does when it starts. ' +
      'The file as it was stays beside it, as control.db.before-vN.',
    options: (command) =>
      command.option('--dry-run', 'try it on a copy, which is removed, and change nothing'),
    settings: ['state'],
    json: 'print {schema, release_schema, upgraded}',
    examples: ['das migrate --dry-run'],
  }).action(async (flags: Flags) => {
    const { state } = readSettings(['state'], flags, parts.environment)
    const isDry = flags['dryRun'] === true
    const schema = await readFilledStore(state, (store) => {
      if (isDry && store.isOutdated) tryOnCopy(store, state)
      return store.schemaVersion
    })
    const isOutdated = schema < newest
    if (isOutdated && !isDry) await withFilledStore(parts, state, () => undefined)
    const upgraded = isOutdated && !isDry
    if (flags.json) return printJson(parts, { schema, release_schema: newest, upgraded })
    printLines(parts, outcomeText(schema, upgraded))
  })
}

/** @throws the error that the upgrade would end with */
function tryOnCopy(store: ControlStore, stateFolder: string): void {
  const folder = mkdtempSync(join(stateFolder, 'migrate-'))
  try {
    const copy = join(folder, 'control.db')
    backUp(store, copy)
    ControlStore.open(copy).close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function outcomeText(schema: number, upgraded: boolean): string {
  if (schema === newest) return `control.db has schema version ${schema}, that of this release.`
  const copy = `control.db.before-v${newest}`
  return upgraded
    ? `control.db is upgraded from schema version ${schema} to ${newest}. ` +
        `${copy} is the file as it was.`
    : `control.db has schema version ${schema}, this release has ${newest}. An upgrade of a copy ` +
        `succeeded. das migrate, or a start of the server, upgrades it and leaves ${copy}.`
}
