import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { newestActionAt } from '../../control/audit.js'
import { listDatasetStates, readRegistryState } from '../../control/dataset-state.js'
import type { DatasetState, RegistryState } from '../../control/dataset-state.js'
import { findKey, keyNames } from '../../control/keys.js'
import { listLetters, waitingLetters } from '../../control/letters.js'
import { postgresSchemaVersion } from '../../control/postgres/postgres-migrations.js'
import type { DatabaseFacts } from '../../control/postgres/examine-database.js'
import { keyBytes, readKey } from '../../control/store/key-file.js'
import { newestBackup } from '../../control/store/newest-backup.js'
import { checkStructure } from '../../control/store/store-file.js'
import type { ControlStore } from '../../control/store/store.js'
import { listSubscriptions } from '../../control/subscriptions.js'
import { newestPeriod, periodOf } from '../../control/usage.js'
import { isoTime } from '../../text.js'
import { examine, withDatabase } from '../database.js'
import type { CliParts } from '../parts.js'
import { minute } from '../print.js'
import { stateFailure } from '../state-failure.js'
import { hasFile } from '../state-file.js'
import { controlFile, readControlFile, readLocalStore } from '../state.js'

const databaseClockMsMax = 5000
/** Time servers correct less than this in one step. */
const clockStepMsMin = 60_000
/** A service that was idle for longer is rare; a wrong year is not. */
const idleMsMax = 366 * 86_400_000
/** A nightly backup that was not late by half a day. */
const backupAgeMsGood = 36 * 3_600_000
const backupAgeMsMax = 7 * 86_400_000

/** The result of one check of an installation. */
export interface Finding {
  /** The part that was checked: `state folder`, `clock`, … */
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly what: string
  /** What to do; null when nothing is to be done, or `what` says it. */
  readonly advice: string | null
}

/** A result; by default the part is as it must be. */
export function finding(
  check: string,
  what: string,
  status: Finding['status'] = 'ok',
  advice: string | null = null,
): Finding {
  return { check, status, what, advice }
}

/** `fail  clock: … — …` */
export function findingLine({ check, status, what, advice }: Finding): string {
  const text = `${status.padEnd(4)}  ${check}: ${what}`
  return advice === null ? text : `${text} — ${advice}`
}

/** The message of what was thrown, in one line. */
export function reasonOf(cause: unknown): string {
  return oneLine(cause instanceof Error ? cause.message : String(cause))
}

/** The lines of a text as one. */
export function oneLine(text: string): string {
  return text
    .trim()
    .split(/\s*\n\s*/)
    .join('; ')
}

/** Whether the state folder and its files belong to one user and are closed to all others. */
export function folderFindings(folder: string): readonly Finding[] {
  try {
    const { uid } = statSync(folder)
    const names = readdirSync(folder).filter((name) => name !== 'tmp')
    const paths = [folder, ...names.map((name) => join(folder, name))]
    const wrong = paths.flatMap((path) => openFindings(path, path === folder, uid))
    return wrong.length > 0 ? wrong : [finding('state folder', `${folder}, closed to other users`)]
  } catch (cause) {
    const advice =
      'name the folder of the service with --state or DAS_STATE, and run this as its user'
    const isThere = existsSync(folder)
    const what = isThere ? reasonOf(cause) : `${folder} is not there; das serve makes it`
    return [finding('state folder', what, 'fail', advice)]
  }
}

/** The folder itself closes the folders in it. */
function openFindings(path: string, isState: boolean, uid: number): readonly Finding[] {
  const found = statSync(path)
  const mode = found.mode & 0o777
  const findings: Finding[] = []
  if (found.uid !== uid) {
    const what = `${path} belongs to uid ${found.uid}, the folder to uid ${uid}`
    findings.push(finding('state folder', what, 'fail', `chown ${uid} ${path}`))
  }
  const isKey = keyNames.some((name) => name === basename(path))
  if (isKey && found.size !== keyBytes) {
    const advice = 'docs/runbook.md says how to replace it'
    findings.push(finding('state folder', `${path} is damaged`, 'fail', advice))
  }
  if ((isState || found.isFile()) && (mode & 0o077) !== 0) {
    const what = `${path} has mode 0${mode.toString(8)}: others may use it`
    const advice = `chmod ${isState ? '700' : '600'} ${path}`
    findings.push(finding('state folder', what, 'fail', advice))
  }
  return findings
}

/** What the server of a state folder reported last. */
export interface Reports {
  readonly datasets: readonly DatasetState[]
  readonly registry: RegistryState | undefined
}

async function readReports(store: ControlStore): Promise<Reports> {
  return { datasets: await listDatasetStates(store), registry: await readRegistryState(store) }
}

/** What the checks need from the control store. */
export type ControlFacts = Awaited<ReturnType<typeof readFacts>>

/** What the control store holds; `name` is for texts. */
async function readFacts(store: ControlStore, name: string) {
  return {
    store: name,
    /** Ms since the epoch; null = never. */
    newestActionAt: await newestActionAt(store),
    /** The newest month with usage: YYYY-MM. */
    newestPeriod: await newestPeriod(store),
    subscriptions: (await listSubscriptions(store)).length,
    waiting: await waitingLetters(store),
    failedLetters: (await listLetters(store, ['failed'])).length,
  }
}

/** The control store, and what it holds if this release can read it. */
interface ExaminedControl {
  readonly findings: readonly Finding[]
  readonly facts: ControlFacts | null
  /** Of the server of this state folder. */
  readonly reports: Reports | null
  /** Proves to a server that this command reads its keys; null when there is none to read. */
  readonly reportKey: Uint8Array | null
}

const unread = { facts: null, reports: null, reportKey: null }

/** Checks and reads control.db, or the PostgreSQL of `url`. Creates and upgrades nothing. */
export async function examineControl(
  parts: CliParts,
  folder: string,
  url: string | null,
): Promise<ExaminedControl> {
  const reportKey = url === null ? fileKey(folder) : null
  try {
    if (url !== null) return await examineShared(parts, folder, url)
    return { ...(await examineFile(parts, folder)), reportKey }
  } catch (cause) {
    const found =
      url === null
        ? finding('control.db', reasonOf(stateFailure(folder, cause)), 'fail')
        : finding('PostgreSQL', reasonOf(cause), 'fail')
    return { ...unread, findings: [found], reportKey }
  }
}

function fileKey(folder: string): Uint8Array | null {
  const path = join(folder, 'cursor.key')
  try {
    return existsSync(path) ? readKey(path) : null
  } catch {
    // A damaged one keeps the server from starting, which says why.
    return null
  }
}

async function examineFile(
  parts: CliParts,
  folder: string,
): Promise<Omit<ExaminedControl, 'reportKey'>> {
  const check = 'control.db'
  if (!hasFile(controlFile(folder))) {
    const advice = 'das serve makes it; or name another --state'
    return { ...unread, findings: [finding(check, 'not made yet', 'warn', advice)] }
  }
  return await readControlFile(parts, folder, async (store) => {
    checkStructure(store.file.db)
    const { schemaVersion, isOutdated } = store.file
    if (isOutdated) {
      const what = `schema version ${schemaVersion} of an older release`
      const advice =
        'stop the server, run das migrate, start this release; then run das doctor again'
      return { ...unread, findings: [finding(check, what, 'warn', advice)] }
    }
    const what = `intact, schema version ${schemaVersion}, that of this release`
    return {
      findings: [finding(check, what)],
      facts: await readFacts(store, check),
      reports: await readReports(store),
    }
  })
}

async function examineShared(
  parts: CliParts,
  folder: string,
  url: string,
): Promise<ExaminedControl> {
  const found = await examine(url, parts.clock.now)
  const findings = databaseFindings(found)
  const reports = (await readLocalStore(parts, folder, readReports)) ?? null
  if (found.schemaVersion !== postgresSchemaVersion) return { ...unread, findings, reports }
  return await withDatabase(parts, url, async (store) => ({
    findings,
    facts: await readFacts(store, 'the PostgreSQL'),
    reports,
    reportKey: await findKey(store, folder, 'cursor.key'),
  }))
}

/** What a PostgreSQL says of its schema, its clock and its role. */
export function databaseFindings(facts: DatabaseFacts): readonly Finding[] {
  const check = 'PostgreSQL'
  const { clockAheadMs, isReadOnly } = facts
  const findings = [schemaFinding(facts)]
  if (isReadOnly) {
    const what = 'it is a standby, or read-only: nothing can be recorded'
    findings.push(finding(check, what, 'fail', 'name the primary in DAS_CONTROL_URL'))
  }
  if (Math.abs(clockAheadMs) > databaseClockMsMax) {
    const what = `its clock differs from this machine's by ${clockAheadMs / 1000} s`
    findings.push(finding(check, what, 'warn', 'keep both right with a time server'))
  }
  return findings
}

function schemaFinding({ schemaVersion }: DatabaseFacts): Finding {
  const check = 'PostgreSQL'
  if (schemaVersion === 0) {
    const advice = 'das control copy moves control.db into it; das serve begins with an empty store'
    return finding(check, 'reachable, and has no tables of the service yet', 'warn', advice)
  }
  const what = `reachable, schema version ${schemaVersion}`
  const newest = postgresSchemaVersion
  if (schemaVersion === newest) return finding(check, `${what}, that of this release`)
  const differs = `${what}, and this release has ${newest}`
  if (schemaVersion > newest) return finding(check, differs, 'fail', 'run the newer release')
  const advice = 'run pg_dump, then das migrate; then run das doctor again'
  return finding(check, differs, 'warn', advice)
}

/** Whether the clock agrees with what the control store recorded. */
export function clockFinding(now: number, facts: ControlFacts): Finding {
  const { store, newestActionAt: actionAt, newestPeriod: period } = facts
  const time = `it is ${isoTime(now)} here`
  if (period !== null && period > periodOf(now)) {
    const advice = 'set the clock right; if it ran ahead before, then run das usage --repair'
    return finding('clock', `${time}, and rows are counted in ${period}`, 'fail', advice)
  }
  const newest = `${time}, and the newest action in ${store} is of ${isoTime(actionAt ?? now)}`
  if (actionAt !== null && actionAt > now + clockStepMsMin) {
    return finding('clock', newest, 'fail', 'set the clock right')
  }
  if (actionAt !== null && now > actionAt + idleMsMax) {
    const advice = 'if the clock runs ahead, set it right: quotas of later months are open'
    return finding('clock', newest, 'warn', advice)
  }
  return finding('clock', `${isoTime(now)}, after all of ${store}`)
}

/** Whether control.db was copied lately, once something was sold. */
export function backupFinding(
  folder: string,
  { subscriptions }: ControlFacts,
  now: number,
): Finding {
  const advice = 'run das backup every night: docs/operating.md, "Backup"'
  const backup = newestBackup(join(folder, 'control.db'))
  if (backup === null) {
    if (subscriptions === 0) return finding('backup', 'none is known, and nothing is sold')
    return finding('backup', `none is known of ${subscriptions} subscriptions`, 'fail', advice)
  }
  const what = `the newest known one is ${backup.path} of ${minute(backup.madeAt)}`
  const ageMs = now - backup.madeAt
  if (ageMs <= backupAgeMsGood) return finding('backup', what)
  return finding('backup', what, ageMs > backupAgeMsMax ? 'fail' : 'warn', advice)
}
