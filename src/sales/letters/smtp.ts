import type { SMTPTransportOptions, Transporter } from 'nodemailer'
import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'
import type { Sender, SmtpServer } from './mail-settings.js'
import type { Mailer, MailMessage } from './mailer.js'
import { asMailError } from './smtp-failure.js'
import { smtpLimits } from './smtp-limits.js'
import type { SmtpLimits } from './smtp-limits.js'

/** A letter to these hosts does not leave the machine. */
const loopbackHosts: readonly string[] = ['127.0.0.1', '::1', 'localhost']

/**
 * Sends each letter over a connection of its own, for at most `attemptMs`. A letter leaves the
 * machine only over TLS with a verified certificate.
 */
export function smtpMailer(
  server: SmtpServer,
  sender: Sender,
  clock: Clock,
  limits: SmtpLimits = smtpLimits,
): Mailer {
  const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1)
  return {
    send: async (message, signal) => {
      const late = abortAfter(clock, limits.attemptMs)
      try {
        const transport = await openTransport(server, limits)
        await transport.sendMail({
          ...mailOf(message, sender, domain),
          signal: signal === undefined ? late : AbortSignal.any([late, signal]),
        })
      } catch (cause) {
        const seconds = limits.attemptMs / 1000
        const failure = late.aborted ? `the letter took longer than ${seconds} s` : cause
        throw asMailError(failure, server)
      }
    },
  }
}

/**
 * Connects to the mail server, starts TLS and logs in as for a letter, and sends none.
 * @throws MailError saying what failed
 */
export async function checkSmtp(server: SmtpServer, limits: SmtpLimits): Promise<void> {
  const transport = await openTransport(server, limits)
  try {
    await transport.verify()
  } catch (cause) {
    throw asMailError(cause, server)
  } finally {
    transport.close()
  }
}

/** Loads nodemailer with the first letter: most commands and many servers never send one. */
async function openTransport(server: SmtpServer, limits: SmtpLimits): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport(transportOptions(server, limits))
}

/**
 * The options of nodemailer for this server. `smtps` is TLS from the start; otherwise STARTTLS is
 * required, because a letter contains a token. On loopback STARTTLS is used if the server offers
 * it, also with a self-signed certificate, the default of Debian's mail servers.
 */
export function transportOptions(server: SmtpServer, limits: SmtpLimits): SMTPTransportOptions {
  const { host, port, isSecure, login } = server
  const isLocal = !isSecure && loopbackHosts.includes(host)
  return {
    host,
    port,
    secure: isSecure,
    requireTLS: !isSecure && !isLocal,
    tls: { rejectUnauthorized: !isLocal },
    ...(login && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    dnsTimeout: limits.dnsMs,
    connectionTimeout: limits.connectMs,
    greetingTimeout: limits.greetingMs,
    socketTimeout: limits.silenceMs,
    allowInternalNetworkInterfaces: true,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function mailOf(message: MailMessage, sender: Sender, domain: string) {
  return {
    from: sender,
    to: [message.to].flat().map((address) => ({ name: '', address })),
    subject: message.subject,
    text: message.text,
    html: message.html,
    attachments: (message.attachments ?? []).map(({ filename, html }) => ({
      filename,
      content: html,
      contentType: 'text/html; charset=utf-8',
    })),
    messageId: `<${message.id}@${domain}>`,
    date: new Date(message.writtenAt),
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': message.language },
    xMailer: false,
  } as const
}
