import { readMailSettings } from '../../mail/mail-settings.js'
import type { MailSettings } from '../../mail/mail-settings.js'
import { commandLimits } from '../../mail/smtp-limits.js'
import { checkSmtp } from '../../mail/smtp.js'
import type { Config } from '../../config.js'
import { minute } from '../print.js'
import type { ControlFacts } from './control-facts.js'
import { fail, ok, reasonOf, warn } from './finding.js'
import type { Finding } from './finding.js'

const check = 'mail'
/** A letter is tried at least hourly. */
const waitMsMax = 3_600_000

/** Whether the mail server takes letters, and whether letters wait or were given up. */
export async function mailFindings(
  config: Pick<Config, 'smtpUrl' | 'mailFrom' | 'publicUrl'>,
  facts: ControlFacts | null,
  now: number,
): Promise<readonly Finding[]> {
  return [...(await serverFindings(config)), ...letterFindings(facts, now)]
}

async function serverFindings(
  config: Pick<Config, 'smtpUrl' | 'mailFrom' | 'publicUrl'>,
): Promise<readonly Finding[]> {
  try {
    const settings = readMailSettings(config)
    if (settings === null) return [ok(check, 'off, because DAS_SMTP_URL is not set')]
    const found = [await smtpFinding(settings)]
    if (config.publicUrl !== null) return found
    const what = 'letters link to an address of this machine'
    return [...found, warn(check, what, 'set DAS_PUBLIC_URL to the address that users see')]
  } catch (cause) {
    return [fail(check, reasonOf(cause), null)]
  }
}

async function smtpFinding({ smtp, sender }: MailSettings): Promise<Finding> {
  const { host, port, login } = smtp
  try {
    await checkSmtp(smtp, commandLimits)
  } catch (cause) {
    const advice = 'correct DAS_SMTP_URL, or the mail server; the unit must allow its address'
    return fail(check, reasonOf(cause), advice)
  }
  const how = login === null ? 'without a login' : `as ${login.user}`
  return ok(check, `${host}:${port} lets letters from ${sender.address} in, ${how}`)
}

function letterFindings(facts: ControlFacts | null, now: number): readonly Finding[] {
  if (facts === null) return []
  const { waiting, failedLetters } = facts
  const findings: Finding[] = []
  if (waiting.oldestAt !== null && now - waiting.oldestAt > waitMsMax) {
    const what = `${waiting.count} waiting, the oldest since ${minute(waiting.oldestAt)}`
    findings.push(warn(check, what, 'das mail list says why; das mail send tries again'))
  }
  if (failedLetters > 0) {
    const advice = 'das mail list says why; give the tokens to their subscribers yourself'
    findings.push(warn(check, `${failedLetters} given up`, advice))
  }
  return findings
}
