import { resolve } from 'node:path'
import type { Command } from 'commander'
import { backUp } from '../control/store/backup.js'
import { noteBackup } from '../control/store/newest-backup.js'
import { addPrinted } from './command.js'
import type { CliParts } from './parts.js'
import { count } from './print.js'
import { controlUrlOf, readControlFile } from './state.js'

/** `das backup`: copies control.db while the server runs. */
export function addBackup(program: Command, parts: CliParts): void {
  addPrinted(program, parts, {
    usage: 'backup <file>',
    description:
      'Copy control.db to a new file and verify the copy. The server keeps running. A PostgreSQL ' +
      'of DAS_CONTROL_URL is backed up with pg_dump.',
    settings: ['state'],
    json: 'print {file, size_bytes, subscriptions, tokens, usage, letters}',
    examples: ['das backup /var/backups/das/control-2026-11-21.db'],
    run: async ({ state }, _flags, file: string) => {
      const path = resolve(file)
      if (controlUrlOf(parts) !== null) throw new Error(dumpText)
      const { sizeBytes, ...counts } = await readControlFile(parts, state, (store) => {
        const made = backUp(store.file, path)
        note(parts, store.file.db.name, path)
        return made
      })
      const [bytes, subscriptions, tokens, usage] = [
        sizeBytes,
        counts.subscriptions,
        counts.tokens,
        counts.usage,
      ].map((value) => count(parts.stdout, value))
      return {
        json: { file: path, size_bytes: sizeBytes, ...counts },
        lines: [
          `${path}: ${bytes} bytes, verified.`,
          `It holds ${subscriptions} subscriptions, ${tokens} token hashes and ${usage} usage ` +
            'counts.',
        ],
      }
    },
  })
}

const dumpText =
  'das backup copies control.db, and DAS_CONTROL_URL names a PostgreSQL: back that up with ' +
  'pg_dump (docs/scale.md, "Backup of the PostgreSQL").'

/** Only warns, because the backup itself is complete. */
function note({ clock, stderr }: CliParts, storePath: string, path: string): void {
  try {
    noteBackup(storePath, { path, madeAt: clock.now() })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    stderr.write(`warning: can't record this backup in the state folder: ${why}\n`)
  }
}
