import type { SmtpServer } from './mail-settings.js'
import { MailError } from './mailer.js'
import type { SmtpLimits } from './smtp-limits.js'

interface Attempt {
  readonly server: SmtpServer
  readonly limits: SmtpLimits
  /** The time for all of it was over. */
  readonly isLate: boolean
}

/** What nodemailer says of a failure; every field may be missing. */
interface Fault {
  readonly message: string
  /** Of nodemailer: ESOCKET, ETLS, EAUTH, … */
  readonly code: string
  /** What went wrong below it: ECONNREFUSED, … */
  readonly originalCode: string
  /** Which wait was too long: GREETING_TIMEOUT, … */
  readonly timeoutType: string
  /** The command that the server answered: `RCPT TO`, `DATA`, …; `CONN` and `API` for none. */
  readonly command: string
  /** Of the server's answer; null where it gave none. */
  readonly status: number | null
  readonly response: string
}

const messageLengthMax = 300
/** Commands that are about this letter: another one may go through. */
const letterCommands: readonly string[] = ['RCPT TO', 'DATA']
/** A wrong state of the session, or a login that is missing or wrong: the operator mends these. */
const mendedStatus: readonly (number | null)[] = [503, 530, 534, 535, 538]
/** A server's policy (RFC 3463, x.7), such as "relay access denied": so are these. */
const policyAnswer = /\b5\.7\.\d+\b|\brelay/i

/** A failure of nodemailer in plain words: one line, without the password or a token in it. */
export function asMailError(cause: unknown, attempt: Attempt): MailError {
  const fault = faultOf(cause)
  const message = cleaned(explain(fault, attempt), attempt.server)
  // The cause stays here: nodemailer's own message repeats what the server echoed.
  return new MailError(message, { isPermanent: isPermanent(fault) })
}

/** A refusal (5xx) of the recipient or of the letter; all else may be over at the next attempt. */
function isPermanent({ status, command, code, response }: Fault): boolean {
  if (code === 'EENVELOPE' && command === 'API') return true
  const isRefusal = status !== null && status >= 500 && !mendedStatus.includes(status)
  const isPolicy = command === 'RCPT TO' && policyAnswer.test(response)
  return isRefusal && letterCommands.includes(command) && !isPolicy
}

function explain(fault: Fault, { server, limits, isLate }: Attempt): string {
  const place = server.host.includes(':')
    ? `[${server.host}]:${server.port}`
    : `${server.host}:${server.port}`
  const { code, originalCode, message, status } = fault
  if (isLate) return `${place} took longer than ${seconds(limits.attemptMs)} over one letter`
  if (code === 'EABORT') return 'the sending was stopped'
  if (originalCode === 'ECONNREFUSED') return `${place} refused the connection`
  if (code === 'EDNS') return `the mail server's name ${server.host} is not known: ${message}`
  if (code === 'ETIMEDOUT') return silenceText(fault, place, limits)
  if (isAboutTls(fault)) return tlsText(fault, place)
  if (code === 'EAUTH') return `${place} refused the login${answerText(fault)}`
  if (status !== null) return `${place} answered${commandText(fault)}${answerText(fault)}`
  if (code === 'ECONNECTION' || originalCode === 'ECONNRESET' || originalCode === 'EPIPE') {
    return `${place} closed the connection`
  }
  return `${place}: ${message}`
}

function silenceText({ timeoutType }: Fault, place: string, limits: SmtpLimits): string {
  switch (timeoutType) {
    case 'GREETING_TIMEOUT':
      return `${place} sent no greeting in ${seconds(limits.greetingMs)}`
    case 'UPGRADE_TIMEOUT':
      return `TLS with ${place} did not begin in ${seconds(limits.greetingMs)}`
    case 'SOCKET_TIMEOUT':
      return `${place} said nothing for ${seconds(limits.silenceMs)}`
    default:
      return `no connection to ${place} in ${seconds(limits.connectMs)}`
  }
}

function isAboutTls({ code, originalCode, message, status }: Fault): boolean {
  return code === 'ETLS' || (status === null && /CERT|SSL|TLS/.test(`${originalCode} ${message}`))
}

function tlsText(fault: Fault, place: string): string {
  if (fault.status !== null) {
    return (
      `${place} begins no TLS${answerText(fault)}, and a token must not cross a network in ` +
      'clear: smtps:// or a server with STARTTLS can be used'
    )
  }
  if (/certificate|altname/i.test(fault.message)) {
    return (
      `the certificate of ${place} is not trusted (${fault.message}); that of a private ` +
      'authority goes into the file that NODE_EXTRA_CA_CERTS names'
    )
  }
  return `TLS with ${place} failed: ${fault.message}`
}

function commandText({ command }: Fault): string {
  return ['', 'CONN', 'API'].includes(command) ? '' : ` to ${command}`
}

/** The server's own words, as they are. */
function answerText({ response, status }: Fault): string {
  if (status === null) return ''
  const text = response.replace(/^\d{3}[ -]?/, '').replaceAll('"', "'")
  return `: ${status} "${text}"`
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}

function faultOf(cause: unknown): Fault {
  const fields: Readonly<Record<string, unknown>> =
    typeof cause === 'object' && cause !== null ? { ...cause } : {}
  const textOf = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '')
  const status = fields['responseCode']
  return {
    message: (cause instanceof Error ? cause.message : String(cause)).replace(
      'Error initiating TLS - ',
      '',
    ),
    code: textOf('code'),
    originalCode: textOf('originalCode'),
    timeoutType: textOf('timeoutType'),
    command: textOf('command'),
    status: typeof status === 'number' ? status : null,
    response: textOf('response'),
  }
}

/** A server may echo what it was sent. */
function cleaned(text: string, { login }: SmtpServer): string {
  const secrets = login === null ? [] : secretForms(login)
  const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[password]'), text)
  return safe
    .replaceAll(/das_live_\w+/g, '[token]')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, messageLengthMax)
}

/** The password as it is, and as the ways to log in write it. */
function secretForms({ user, password }: NonNullable<SmtpServer['login']>): readonly string[] {
  if (password === '') return []
  const plain = Buffer.from(`\0${user}\0${password}`).toString('base64')
  return [plain, Buffer.from(password).toString('base64'), password]
}
