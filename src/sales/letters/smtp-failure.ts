import type { SmtpServer } from './mail-settings.js'
import { MailError } from './mailer.js'

/** The fields of nodemailer's errors. */
interface SmtpFailure {
  readonly message: string
  readonly code?: string
  /** The command that the server answered: `RCPT TO`, `DATA`, …; `CONN` is the greeting. */
  readonly command?: string
  readonly responseCode?: number
  readonly response?: string
}

const messageLengthMax = 300
/** A wrong state of the session, or a missing or wrong login: the operator corrects these. */
const operatorStatus: readonly number[] = [503, 530, 534, 535, 538]
/**
 * A policy of the server (RFC 3463, x.7), such as "relay access denied"; the operator corrects
 * these too.
 */
const policyAnswer = /\b5\.7\.\d+\b|\brelay/i

/** Nodemailer's failure as one line for the operator, without the password or a token in it. */
export function asMailError(cause: unknown, server: SmtpServer): MailError {
  const failure: SmtpFailure = cause instanceof Error ? cause : { message: String(cause) }
  const host = server.host.includes(':') ? `[${server.host}]` : server.host
  const text = `${host}:${server.port}${reasonFor(failure)}${adviceFor(failure)}`
  // The cause is left out: its message repeats what the server echoed.
  return new MailError(withoutSecrets(text, server), { isPermanent: isPermanent(failure) })
}

/** True for a refusal (5xx) of the recipient or of the letter; other failures may be temporary. */
function isPermanent(failure: SmtpFailure): boolean {
  const { code, command, responseCode = 0, response = '' } = failure
  if (code === 'EENVELOPE' && command === 'API') return true
  if (responseCode < 500 || operatorStatus.includes(responseCode)) return false
  return command === 'DATA' || (command === 'RCPT TO' && !policyAnswer.test(response))
}

function reasonFor({ command = 'CONN', message, response }: SmtpFailure): string {
  if (response === undefined) return `: ${message}`
  return ` answered${command === 'CONN' ? '' : ` to ${command}`}: ${response}`
}

function adviceFor({ code, message, responseCode }: SmtpFailure): string {
  if (code === 'ETLS' && responseCode !== undefined) {
    return '. A letter holds a token and needs TLS: use smtps:// or a server with STARTTLS'
  }
  if (!/certificate|altname/i.test(message)) return ''
  return '. Name the certificate of a private authority in NODE_EXTRA_CA_CERTS'
}

/**
 * A server may echo what it received: the password as it is, or in base64; a token or a code; the
 * reader's address, which the log must not hold.
 */
function withoutSecrets(text: string, { login }: SmtpServer): string {
  const { user = '', password = '' } = login ?? {}
  const secrets = [`\0${user}\0${password}`, password].map((each) => Buffer.from(each))
  const forms = [...secrets.map((each) => each.toString('base64')), password]
  const safe = forms.reduce((rest, form) => rest.replaceAll(form, '[password]'), text)
  return (password === '' ? text : safe)
    .replaceAll(/das_live_\w+/g, '[token]')
    .replaceAll(/[^\s<>()[\]"',;:]+@[^\s<>()[\]"',;:]+/g, '[address]')
    .replaceAll(/(?<!\d)\d{8}(?!\d)|(?<!\d)\d{4}[ -]\d{4}(?!\d)/g, '[code]')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, messageLengthMax)
}
