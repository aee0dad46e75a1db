import { newestBackup } from '../../control/store/newest-backup.js'
import { minute } from '../print.js'
import { fail, ok, warn } from './finding.js'
import type { Finding } from './finding.js'

const check = 'backup'
const hourMs = 3_600_000
/** A nightly backup that was not late by half a day. */
const ageMsGood = 36 * hourMs
const ageMsMax = 7 * 24 * hourMs

/** Whether control.db was copied lately, once something was sold. */
export function backupFinding(storePath: string, subscriptions: number, now: number): Finding {
  const advice = 'run das backup every night: docs/operating.md, "Backup"'
  const backup = newestBackup(storePath)
  if (backup === null) {
    if (subscriptions === 0) return ok(check, 'none is known, and nothing is sold')
    return fail(check, `none is known of ${subscriptions} subscriptions`, advice)
  }
  const what = `the newest known one is ${backup.path} of ${minute(backup.madeAt)}`
  const ageMs = now - backup.madeAt
  if (ageMs > ageMsMax) return fail(check, what, advice)
  return ageMs > ageMsGood ? warn(check, what, advice) : ok(check, what)
}
