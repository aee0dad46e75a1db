import { findKey } from '../../control/keys.js'
import { postgresSchemaVersion } from '../../control/postgres/postgres-migrations.js'
import type { DatabaseFacts } from '../../control/postgres/examine-database.js'
import { examine, withDatabase } from '../database.js'
import type { CliParts } from '../parts.js'
import { readLocalStore } from '../state.js'
import { readFacts } from './control-facts.js'
import type { ExaminedControl } from './control-facts.js'
import { fail, ok, reasonOf, warn } from './finding.js'
import type { Finding } from './finding.js'
import { readReports } from './reports.js'
import type { Reports } from './reports.js'

const check = 'PostgreSQL'
const clockMsMax = 5000
/** Of the connections: a restart of a server needs some beside the old ones. */
const usedShareMax = 0.8

/** Checks and reads the PostgreSQL of DAS_CONTROL_URL, and what this server reports of itself. */
export async function examineShared(
  parts: CliParts,
  stateFolder: string,
  url: string,
): Promise<ExaminedControl> {
  const shared = await examineStore(parts, stateFolder, url)
  const { findings, reports } = await examineReports(parts, stateFolder)
  return { ...shared, findings: [...shared.findings, ...findings], reports }
}

async function examineStore(
  parts: CliParts,
  stateFolder: string,
  url: string,
): Promise<Omit<ExaminedControl, 'reports'>> {
  try {
    const found = await examine(url, parts.clock.now)
    const findings = [schemaFinding(found), ...loadFindings(found)]
    if (found.schemaVersion !== postgresSchemaVersion) return unread(findings)
    return await withDatabase(parts, url, async (store) => ({
      findings,
      facts: await readFacts(store, 'the PostgreSQL'),
      reportKey: await findKey(store, stateFolder, 'cursor.key'),
    }))
  } catch (cause) {
    return unread([fail(check, reasonOf(cause), null)])
  }
}

function unread(findings: readonly Finding[]) {
  return { findings, facts: null, reportKey: null }
}

function schemaFinding({ schemaVersion }: DatabaseFacts): Finding {
  const newest = postgresSchemaVersion
  if (schemaVersion === newest) {
    return ok(check, `reachable, schema version ${schemaVersion}, that of this release`)
  }
  if (schemaVersion === 0) {
    const advice = 'das control copy moves control.db into it; das serve begins with an empty store'
    return warn(check, 'reachable, and has no tables of the service yet', advice)
  }
  const what = `schema version ${schemaVersion}, and this release has ${newest}`
  if (schemaVersion > newest) return fail(check, what, 'run the newer release')
  return warn(check, what, 'run pg_dump, then das migrate; then run das doctor again')
}

/** What a PostgreSQL says of its clock, its connections and its role. */
export function loadFindings(facts: DatabaseFacts): readonly Finding[] {
  const { clockAheadMs, connections, connectionsMax, isReadOnly } = facts
  const used = `${connections} of ${connectionsMax} connections in use`
  const seconds = Math.round(Math.abs(clockAheadMs) / 100) / 10
  const where = clockAheadMs > 0 ? 'ahead of' : 'behind'
  const clock = `its clock is ${seconds} s ${where} this machine's`
  const findings: Finding[] = []
  if (isReadOnly) {
    const advice = 'name the primary in DAS_CONTROL_URL'
    findings.push(fail(check, 'it is a standby, or read-only: nothing can be recorded', advice))
  }
  if (Math.abs(clockAheadMs) > clockMsMax) {
    findings.push(warn(check, clock, 'keep both right with a time server, such as chrony'))
  }
  if (connections > usedShareMax * connectionsMax) {
    findings.push(warn(check, used, 'raise max_connections of the PostgreSQL'))
  }
  return findings.length > 0 ? findings : [ok(check, `${clock}; ${used}`)]
}

interface ExaminedReports {
  readonly findings: readonly Finding[]
  readonly reports: Reports | null
}

/** A missing server.db is no finding: the datasets then say that no server reported them. */
async function examineReports(parts: CliParts, stateFolder: string): Promise<ExaminedReports> {
  try {
    const reports = await readLocalStore(parts, stateFolder, readReports)
    return { findings: [], reports: reports ?? null }
  } catch (cause) {
    return { findings: [fail('server.db', reasonOf(cause), null)], reports: null }
  }
}
