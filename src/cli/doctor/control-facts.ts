import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { newestActionAt } from '../../control/audit.js'
import { listLetters, waitingLetters } from '../../control/letters.js'
import { readKey } from '../../control/store/key-file.js'
import { checkStructure } from '../../control/store/store-file.js'
import type { SqliteStore } from '../../control/store/sqlite-store.js'
import type { ControlStore, StoreParts } from '../../control/store/store.js'
import { listSubscriptions } from '../../control/subscriptions.js'
import { newestPeriod } from '../../control/usage.js'
import { stateFailure } from '../state-failure.js'
import { hasFile, readFile } from '../state-file.js'
import { controlFile } from '../state.js'
import { fail, ok, reasonOf, warn } from './finding.js'
import type { Finding } from './finding.js'
import { readReports } from './reports.js'
import type { Reports } from './reports.js'

/** What the checks need from the control store. */
export interface ControlFacts {
  /** `control.db` or `the PostgreSQL`. */
  readonly store: string
  /** Ms since the epoch; null = never. */
  readonly newestActionAt: number | null
  /** The newest month with usage: YYYY-MM. */
  readonly newestPeriod: string | null
  readonly subscriptions: number
  readonly waiting: Awaited<ReturnType<typeof waitingLetters>>
  readonly failedLetters: number
}

/** The control store, and what it holds if this release can read it. */
export interface ExaminedControl {
  readonly findings: readonly Finding[]
  readonly facts: ControlFacts | null
  /** Of the server of this state folder. */
  readonly reports: Reports | null
  /** Proves to a server that this command reads its keys; null when there is none to read. */
  readonly reportKey: Uint8Array | null
}

const check = 'control.db'

/** Verifies control.db and reads it. Creates and upgrades nothing. */
export async function examineFile(
  parts: StoreParts,
  stateFolder: string,
): Promise<ExaminedControl> {
  return { ...(await examined(parts, stateFolder)), reportKey: fileKey(stateFolder) }
}

type Examined = Omit<ExaminedControl, 'reportKey'>

async function examined(parts: StoreParts, stateFolder: string): Promise<Examined> {
  const file = controlFile(stateFolder)
  if (!hasFile(file)) {
    return unread(warn(check, 'not made yet', 'das serve makes it; or name another --state'))
  }
  try {
    return await readFile(parts, file, verified)
  } catch (cause) {
    return unread(fail(check, reasonOf(stateFailure(stateFolder, cause)), null))
  }
}

function unread(finding: Finding): Examined {
  return { findings: [finding], facts: null, reports: null }
}

/** The key needs no control.db. A damaged one has a finding of its own. */
function fileKey(stateFolder: string): Uint8Array | null {
  const path = join(stateFolder, 'cursor.key')
  try {
    return existsSync(path) ? readKey(path) : null
  } catch {
    return null
  }
}

async function verified(store: SqliteStore): Promise<Examined> {
  checkStructure(store.file.db)
  const { schemaVersion, isOutdated } = store.file
  if (isOutdated) {
    const what = `schema version ${schemaVersion} of an older release`
    const advice = 'stop the server, run das migrate, start this release; then run das doctor again'
    return unread(warn(check, what, advice))
  }
  const finding = ok(check, `intact, schema version ${schemaVersion}, that of this release`)
  const facts = await readFacts(store, check)
  return { findings: [finding], facts, reports: await readReports(store) }
}

/** What the control store holds; `name` is for texts. */
export async function readFacts(store: ControlStore, name: string): Promise<ControlFacts> {
  return {
    store: name,
    newestActionAt: await newestActionAt(store),
    newestPeriod: await newestPeriod(store),
    subscriptions: (await listSubscriptions(store)).length,
    waiting: await waitingLetters(store),
    failedLetters: (await listLetters(store, ['failed'])).length,
  }
}
