import { domainToASCII } from 'node:url'
import { settings } from '../../config.js'
import type { Config } from '../../config.js'
import { emailPattern } from '../../control/email-address.js'
import { badRequest } from '../../errors.js'

/** The mail server in DAS_SMTP_URL. */
export interface SmtpServer {
  /** A name or address, without brackets. */
  readonly host: string
  readonly port: number
  /** TLS from the first byte. */
  readonly isSecure: boolean
  /** Null when the server needs no login. */
  readonly login: { readonly user: string; readonly password: string } | null
}

/** The sender; the name may be empty. */
export interface Sender {
  readonly name: string
  readonly address: string
}

export interface MailSettings {
  readonly smtp: SmtpServer
  readonly sender: Sender
}

const securePort = 465
const submissionPort = 587
const namedPattern = /^(?<name>[^<>\p{Cc}]*)<(?<address>[^<>]+)>$/u

/**
 * The mail server and the sender; null when mail is off, because DAS_SMTP_URL is not set.
 * @throws bad_request naming the missing or wrong setting, without the password
 */
export function readMailSettings({
  smtpUrl,
  mailFrom,
}: Pick<Config, 'smtpUrl' | 'mailFrom'>): MailSettings | null {
  if (smtpUrl === null) return null
  const name = `${settings.mailFrom.flag} (${settings.mailFrom.variable})`
  if (mailFrom === null) {
    throw badRequest(`${name}: ${settings.smtpUrl.variable} is set, so letters need a sender.`)
  }
  const sender = readSender(mailFrom)
  if (sender !== undefined) return { smtp: readServer(smtpUrl), sender }
  throw badRequest(
    `${name}: "${mailFrom}" is not a sender; write it like data@example.org ` +
      'or Data <data@example.org>',
  )
}

function readSender(text: string): Sender | undefined {
  const { name, address } = namedPattern.exec(text.trim())?.groups ?? { name: '', address: text }
  const unquoted = (name ?? '').trim().replace(/^"(.*)"$/, '$1')
  const sender = { name: unquoted, address: (address ?? '').trim() }
  return emailPattern.test(sender.address) ? sender : undefined
}

function readServer(url: URL): SmtpServer {
  const isSecure = url.protocol === 'smtps:'
  const port = url.port === '' ? (isSecure ? securePort : submissionPort) : Number(url.port)
  const host = domainToASCII(decodeURIComponent(url.hostname)).replace(/^\[(.*)\]$/, '$1')
  return { host, port, isSecure, login: readLogin(url) }
}

function readLogin({ username, password }: URL): SmtpServer['login'] {
  if (username === '') return null
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  } catch {
    throw badRequest(
      `${settings.smtpUrl.variable}: percent-encode the user and the password: % is %25`,
    )
  }
}
