import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { periodOf } from '../../control/usage.js'
import { isoTime } from '../../text.js'
import type { CliParts } from '../parts.js'
import type { ControlFacts } from './control-facts.js'
import { fail, ok, warn } from './finding.js'
import type { Finding } from './finding.js'

const check = 'clock'
/** Time servers correct less than this in one step. */
const stepMsMin = 60_000
/** A service that was idle for longer is rare; a wrong year is not. */
const idleMsMax = 366 * 86_400_000
const askMsMax = 3000

const run = promisify(execFile)

/** Whether the clock agrees with the control store, and is kept right by a time server. */
export async function clockFindings(
  { clock, environment }: Pick<CliParts, 'clock' | 'environment'>,
  facts: ControlFacts | null,
): Promise<readonly Finding[]> {
  const wrong = facts === null ? null : wrongClock(clock.now(), facts)
  return [
    wrong ??
      ok(check, `${isoTime(clock.now())}${facts === null ? '' : `, after all of ${facts.store}`}`),
    await synchronized(environment),
  ]
}

function wrongClock(
  now: number,
  { store, newestActionAt, newestPeriod }: ControlFacts,
): Finding | null {
  const time = `it is ${isoTime(now)} here`
  if (newestPeriod !== null && newestPeriod > periodOf(now)) {
    const advice = 'set the clock right; if it ran ahead before, then run das usage --repair'
    return fail(check, `${time}, and rows are counted in ${newestPeriod}`, advice)
  }
  if (newestActionAt === null) return null
  const newest = `the newest action in ${store} is of ${isoTime(newestActionAt)}`
  if (newestActionAt > now + stepMsMin) {
    return fail(check, `${time}, and ${newest}`, 'set the clock right: timedatectl set-ntp true')
  }
  if (now > newestActionAt + idleMsMax) {
    const advice = 'if the clock runs ahead, set it right: quotas of later months are open'
    return warn(check, `${time}, and ${newest}`, advice)
  }
  return null
}

/** Asks systemd, which knows the state of the kernel, whatever program keeps the time. */
async function synchronized(environment: CliParts['environment']): Promise<Finding> {
  const argv = ['show', '--property=NTPSynchronized', '--value']
  const options = { timeout: askMsMax, env: { ...environment, LC_ALL: 'C' } }
  const answer = await run('timedatectl', argv, options).catch(() => null)
  switch (answer?.stdout.trim()) {
    case 'yes':
      return ok(check, 'synchronized with a time server')
    case 'no': {
      const advice = 'timedatectl set-ntp true, or install chrony'
      return warn(check, 'not synchronized with a time server', advice)
    }
    default:
      return ok(check, "no timedatectl answers here: whether it is synchronized isn't known")
  }
}
