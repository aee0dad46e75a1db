import type { Config } from '../../config.js'
import type { Clock } from '../../clock.js'
import { readReport, reportHeader, reportProof } from '../../control/server-report.js'
import type { ServerReport } from '../../control/server-report.js'
import { ServerLock } from '../../control/store/server-lock.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { lockPath } from '../state-file.js'
import { linkBase } from '../serve/server-address.js'
import { ask } from './ask.js'
import type { Answer } from './ask.js'
import { fail, ok, reasonOf, warn } from './finding.js'
import type { Finding } from './finding.js'
import { forgedAddress, proxyFindings } from './proxy.js'

const check = 'server'

/** The findings about the running server, and its report if it made one. */
export interface ExaminedServer {
  readonly findings: readonly Finding[]
  readonly report: ServerReport | null
}

/**
 * Asks the server that runs over the state folder at its public address. `key` proves that this
 * command may read the report.
 */
export async function examineServer(
  parts: CliParts,
  config: Pick<Config, 'publicUrl' | 'host' | 'port' | 'state'>,
  flags: Flags,
  key: Uint8Array | null,
): Promise<ExaminedServer> {
  if (!ServerLock.isHeld(lockPath(config.state))) {
    const what = 'none runs over the state folder: its address, proxy and limits are not checked'
    return { findings: [warn(check, what, 'start it, and run das doctor again')], report: null }
  }
  const base = linkBase(config, flags, parts.environment)
  try {
    const proof = key === null ? null : reportProof(key, parts.clock.now())
    const headers = {
      'X-Forwarded-For': forgedAddress,
      ...(proof !== null && { [reportHeader]: proof }),
    }
    const answer = await ask(`${base}/healthz`, headers, parts.clock)
    if (key === null) return { findings: await withoutReport(base, parts.clock), report: null }
    return await examineAnswer(parts, base, answer)
  } catch (cause) {
    const advice = 'check the public URL, its DNS, certificate, proxy and firewall'
    const what = `${base} can't be reached from here: ${reasonOf(cause)}`
    return { findings: [fail(check, what, advice)], report: null }
  }
}

/** A server reports to a reader of its keys only. */
async function withoutReport(base: string, clock: Clock): Promise<readonly Finding[]> {
  const what = 'its key was not found: proxy, release and limits of the server are not checked'
  return [await readyFinding(base, clock), warn(check, what, null)]
}

async function examineAnswer(
  parts: CliParts,
  base: string,
  answer: Answer,
): Promise<ExaminedServer> {
  const { [reportHeader]: header } = answer.headers
  const report = typeof header === 'string' ? readReport(header) : null
  if (report === null) return { findings: [strangerFinding(base, answer)], report }
  const findings = [
    await readyFinding(base, parts.clock),
    ...releaseFindings(parts, report),
    ...proxyFindings(base, report, answer.localPort),
  ]
  return { findings, report }
}

/** Something answered that is not the server of this state folder. */
function strangerFinding(base: string, { status, headers }: Answer): Finding {
  const target = headers.location === undefined ? '' : `, to ${headers.location}`
  return fail(
    check,
    `${base}/healthz answers ${status}${target}, and not as the server of this state folder`,
    'check --public-url, --state and the proxy; a server of an older release must be restarted',
  )
}

async function readyFinding(base: string, clock: Clock): Promise<Finding> {
  const { status, body } = await ask(`${base}/readyz`, {}, clock)
  const what = `${base}/readyz answers ${status}`
  if (status !== 200) return fail(check, what, 'the log of the server says why')
  const state = /"reload":"refused"|"data":"damaged"/.exec(body)?.[0]
  if (state === undefined) return ok(check, what)
  return warn(check, `${what}, ${state.replaceAll('"', '')}`, 'das dataset list says why')
}

function releaseFindings({ version }: CliParts, report: ServerReport): readonly Finding[] {
  if (report.version === version) return []
  const what = `it runs release ${report.version}, and this command is of ${version}`
  return [warn(check, what, 'restart the server after an upgrade')]
}
