import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { KeyName } from '../control/keys.js'
import { copyStore } from '../control/postgres/copy-store.js'
import { PostgresStore } from '../control/postgres/postgres-store.js'
import { ServerLock } from '../control/store/server-lock.js'
import { badRequest } from '../errors.js'
import { parsePostgresUrl } from '../setting-values.js'
import { addGroup, addPrinted } from './command.js'
import type { Flags, Result } from './command.js'
import { databaseFailure } from './database.js'
import type { CliParts } from './parts.js'
import { count } from './print.js'
import { listLines } from './table.js'
import { lockPath, requireFile, withFile } from './state-file.js'
import { controlFile, controlUrlOf, readControlFile } from './state.js'

type CopyFlags = Flags & { readonly to?: string }

/** A table of many rows takes its time. */
const statementTimeoutMs = 600_000

/** `das control …`: where the control store is. */
export function addControl(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'control',
    'Move subscriptions, tokens, usage, orders and the audit trail to a PostgreSQL.',
    'das control copy',
  )
  addPrinted(group, parts, {
    usage: 'copy',
    description:
      'Copy control.db and the keys of the state folder into an empty PostgreSQL, and compare ' +
      'every row. No server may run over the state folder. All is copied, or nothing; control.db ' +
      'stays as it is.',
    options: (command) =>
      command.option(
        '--to <url>',
        'the PostgreSQL, postgres://user:password@host/db; other users of this machine see it in ' +
          'the list of processes, so put a URL with a password into DAS_CONTROL_URL instead',
      ),
    settings: ['state'],
    json: 'print {tables: [{table, rows}], keys}',
    examples: ['das control copy', 'das control copy --to postgres://das@db.example.org/das'],
    run: ({ state }, { to }: CopyFlags) => copy(parts, state, to),
  })
}

async function copy(parts: CliParts, state: string, to: string | undefined): Promise<Result> {
  const url = to === undefined ? controlUrlOf(parts) : readUrl(to)
  if (url === null) throw badRequest('Name the PostgreSQL in DAS_CONTROL_URL, or with --to.')
  await requireSound(parts, state)
  const lock = takeLock(state)
  try {
    const copied = await copyTo(parts, state, url)
    return { json: copied, lines: copiedLines(parts, state, copied) }
  } finally {
    lock.release()
  }
}

/** @throws bad_request, which does not show the URL */
function readUrl(text: string): string {
  try {
    return parsePostgresUrl(text)
  } catch (cause) {
    throw badRequest(`--to: ${(cause as Error).message}`)
  }
}

/** @throws Error without a control.db, and for one of an older release, which stays as it is */
async function requireSound(parts: CliParts, state: string): Promise<void> {
  requireFile(controlFile(state))
  const isOutdated = await readControlFile(parts, state, ({ file }) => file.isOutdated)
  if (!isOutdated) return
  throw new Error(
    `control.db in ${resolve(state)} is of an older release: run das migrate without ` +
      'DAS_CONTROL_URL, and then das control copy again.',
  )
}

/** Keeps a server from starting meanwhile. @throws Error when one runs */
function takeLock(state: string): ServerLock {
  return ServerLock.take(
    lockPath(state),
    `A server runs over ${resolve(state)}, and what it records during the copy would be lost. ` +
      'Stop it, and run das control copy again.',
  )
}

interface Copied {
  readonly tables: readonly { readonly table: string; readonly rows: number }[]
  readonly keys: readonly KeyName[]
}

/** Nothing is in the PostgreSQL but empty tables if this throws, unless the last answer is lost. */
async function copyTo(parts: CliParts, state: string, url: string): Promise<Copied> {
  const to = new PostgresStore(url, {
    clock: parts.clock,
    random: parts.random,
    actor: parts.user,
    statementTimeoutMs,
  })
  const tables: Copied['tables'][number][] = []
  try {
    return await withFile(parts, controlFile(state), async (from) => {
      const report = (table: string, rows: number) => tables.push({ table, rows })
      const keys = await copyStore(from, to, resolve(state), report).catch((cause: unknown) => {
        throw databaseFailure(cause)
      })
      return { tables, keys }
    })
  } finally {
    await to.close()
  }
}

function copiedLines(
  { stdout }: CliParts,
  state: string,
  { tables, keys }: Copied,
): readonly string[] {
  const all = tables.reduce((sum, each) => sum + each.rows, 0)
  const named = keys.length === 0 ? 'no key' : keys.join(', ')
  return [
    ...listLines(stdout, tables, {
      TABLE: (each) => each.table,
      'ROWS COMPARED': (each) => each.rows,
    }),
    '',
    `Copied and compared ${count(stdout, all)} rows, and ${named}.`,
    '',
    'Next:',
    '  1. Set DAS_CONTROL_URL for every server, and wherever das commands run.',
    '  2. Start the servers. das doctor checks the PostgreSQL.',
    `control.db in ${resolve(state)} stays as it was. Start no server without DAS_CONTROL_URL:`,
    'it would go on with that file, and know nothing of what is sold and used from now on.',
  ]
}
