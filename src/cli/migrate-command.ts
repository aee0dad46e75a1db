import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { backUp } from '../control/store/backup.js'
import { controlMigrations } from '../control/store/migrations.js'
import { SqliteStore } from '../control/store/sqlite-store.js'
import type { SqliteFile } from '../control/store/sqlite-file.js'
import { postgresSchemaVersion } from '../control/postgres/postgres-migrations.js'
import { examine, withDatabase } from './database.js'
import { addPrinted } from './command.js'
import type { CliParts } from './parts.js'
import { controlUrlOf, readControlFile, withFilledStore } from './state.js'

/** `das migrate`: upgrades control.db without a start of the server, or only tries to. */
export function addMigrate(program: Command, parts: CliParts): void {
  addPrinted(program, parts, {
    usage: 'migrate',
    description:
      'Upgrade control.db to the schema of this release, as das serve does when it starts. ' +
      'The file as it was stays beside it, as control.db.before-vN. With DAS_CONTROL_URL: ' +
      'upgrade the schema of that PostgreSQL.',
    options: (command) =>
      command.option(
        '--dry-run',
        'try it on a copy, which is removed, and change nothing; only compare versions of a ' +
          'PostgreSQL',
      ),
    settings: ['state'],
    json: 'print {schema, release_schema, upgraded}',
    examples: ['das migrate --dry-run'],
    run: async ({ state }, flags) => {
      const isDry = flags['dryRun'] === true
      const url = controlUrlOf(parts)
      const { schema, newest, text } =
        url === null
          ? await migrateFile(parts, state, isDry)
          : await migrateDatabase(parts, url, isDry)
      const upgraded = schema < newest && !isDry
      return { json: { schema, release_schema: newest, upgraded }, lines: [text(upgraded)] }
    },
  })
}

interface Outcome {
  /** The version before. */
  readonly schema: number
  /** That of this release. */
  readonly newest: number
  readonly text: (upgraded: boolean) => string
}

async function migrateFile(parts: CliParts, state: string, isDry: boolean): Promise<Outcome> {
  const newest = controlMigrations.length
  const schema = await readControlFile(parts, state, async ({ file }) => {
    if (isDry && file.isOutdated) await tryOnCopy(parts, file, state)
    return file.schemaVersion
  })
  if (schema < newest && !isDry) await withFilledStore(parts, state, async () => undefined)
  return { schema, newest, text: (upgraded) => outcomeText(schema, upgraded) }
}

/** @throws Error when a newer release wrote the schema, also if `isDry` */
async function migrateDatabase(parts: CliParts, url: string, isDry: boolean): Promise<Outcome> {
  const newest = postgresSchemaVersion
  const { schemaVersion: schema } = await examine(url, parts.clock.now)
  if (!isDry || schema > newest) await withDatabase(parts, url, () => undefined)
  return { schema, newest, text: (upgraded) => databaseText(schema, upgraded) }
}

/** @throws the error that the upgrade would end with */
async function tryOnCopy(
  { clock, random }: CliParts,
  file: SqliteFile,
  stateFolder: string,
): Promise<void> {
  const folder = mkdtempSync(join(stateFolder, 'migrate-'))
  try {
    const copy = join(folder, 'control.db')
    backUp(file, copy)
    await SqliteStore.open(copy, { clock, random }).close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function outcomeText(schema: number, upgraded: boolean): string {
  const newest = controlMigrations.length
  if (schema === newest) return `control.db has schema version ${schema}, that of this release.`
  const copy = `control.db.before-v${newest}`
  return upgraded
    ? `control.db is upgraded from schema version ${schema} to ${newest}. ` +
        `${copy} is the file as it was.`
    : `control.db has schema version ${schema}, this release has ${newest}. An upgrade of a copy ` +
        `succeeded. das migrate, or a start of the server, upgrades it and leaves ${copy}.`
}

function databaseText(schema: number, upgraded: boolean): string {
  const newest = postgresSchemaVersion
  if (schema === newest) {
    return `The PostgreSQL has schema version ${schema}, that of this release.`
  }
  const found =
    schema === 0
      ? 'The PostgreSQL had no tables of the service'
      : `The PostgreSQL had schema version ${schema}`
  return upgraded
    ? `${found}. It now has schema version ${newest}, that of this release.`
    : `${found.replace(' had ', ' has ')}, this release has version ${newest}. das migrate, or ` +
        'the start of a server, upgrades it in one transaction. Run pg_dump first.'
}
