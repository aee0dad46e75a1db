import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import { queueLetter } from '../control/letters.js'
import type { Letter, LetterState } from '../control/letters.js'
import { keyOf } from '../control/keys.js'
import type { ControlStore } from '../control/store/store.js'
import type { IssuedToken } from '../control/tokens/tokens.js'
import { readMailSettings } from '../sales/letters/mail-settings.js'
import type { MailSettings } from '../sales/letters/mail-settings.js'
import { deliverHeld, holdLetter } from '../sales/letters/outbox.js'
import { retryLifeMs } from '../sales/retries.js'
import type { OutboxParts } from '../sales/letters/outbox.js'
import { sealSecret } from '../sales/letters/seal.js'
import { commandLimits } from '../sales/letters/smtp-limits.js'
import type { SmtpLimits } from '../sales/letters/smtp-limits.js'
import { smtpMailer } from '../sales/letters/smtp.js'
import { baseUrl } from '../service/first-questions.js'
import type { Flags } from './command.js'
import type { CliParts } from './parts.js'
import { minute, printLines } from './print.js'
import { registryIfReadable } from './read-registry.js'
import { withFilledStore } from './state.js'

/** The settings of commands that send mail. */
export const mailSettingNames = [
  'registry',
  'state',
  'host',
  'port',
  'publicUrl',
  'smtpUrl',
  'mailFrom',
] as const

export type MailConfig = Pick<Config, (typeof mailSettingNames)[number]>

/** `mail` is false for `--no-mail`. */
export type MailFlags = Flags & { readonly mail: boolean }

/** Whether and how a command mails a token. */
export type Mailing =
  | { readonly kind: 'on'; readonly settings: MailSettings }
  /** `--no-mail` was given. */
  | { readonly kind: 'declined' }
  /** No mail server is set. */
  | { readonly kind: 'off' }

export const noMailFlag = [
  '--no-mail',
  'send no letter; you give the token to the subscriber',
] as const

/**
 * Whether a command mails, by its settings and `--no-mail`.
 * @throws bad_request when there is a mail server and no sender
 */
export function readMailing(config: MailConfig, { mail }: MailFlags): Mailing {
  if (!mail) return { kind: 'declined' }
  const settings = readMailSettings(config)
  return settings === null ? { kind: 'off' } : { kind: 'on', settings }
}

/** A new token, and its letter if one was queued. */
export type Issued<T> = T & { readonly letter: Letter | undefined }

/**
 * Issues a token and queues its letter in one transaction. The letter is held for this process, so
 * that no server sends it too.
 */
export async function issueWithLetter<T extends IssuedToken & { readonly subscriptionId: string }>(
  store: ControlStore,
  options: {
    readonly mailing: Mailing
    readonly stateFolder: string
    readonly kind: 'new-token' | 'reissued-token'
    readonly clock: Clock
    readonly issue: (tx: ControlStore) => Promise<T>
  },
): Promise<Issued<T>> {
  const { mailing, stateFolder, kind, clock, issue } = options
  const key = mailing.kind === 'on' ? await keyOf(store, stateFolder, 'mail.key') : null
  return await store.write(async (tx) => {
    const issued = await issue(tx)
    if (key === null) return { ...issued, letter: undefined }
    const { subscriptionId, tokenId, token } = issued
    const sealedSecret = sealSecret(tx.random, key, tokenId, token)
    const letterId = await queueLetter(
      tx,
      { kind, subscriptionId, tokenId, sealedSecret },
      clock.now(),
    )
    return { ...issued, letter: await holdLetter({ store: tx, clock }, { letterId }) }
  })
}

/**
 * Sends the letter of a new token and prints the result: to stdout if it was sent or mail is off,
 * else to stderr. Returns whether the mail server accepted the letter; never throws for a letter
 * that was not sent, because the sale is complete.
 */
export async function mailToken(
  parts: CliParts,
  config: MailConfig,
  flags: MailFlags,
  { letter, email }: { readonly letter: Letter | undefined; readonly email: string },
): Promise<boolean> {
  const mailing = readMailing(config, flags)
  if (mailing.kind === 'off' && !flags.json) printLines(parts, '', offText)
  if (mailing.kind !== 'on' || letter === undefined) return false
  if (config.publicUrl === null) parts.stderr.write(`${privateText(config)}\n`)
  const unsent = await mailNow(parts, config, mailing.settings, letter)
  if (unsent !== null) parts.stderr.write(`${unsent}\n`)
  else if (!flags.json) printLines(parts, '', `Mailed to ${email}.`)
  return unsent === null
}

/** Null if the letter was sent, else a line that says why not. */
async function mailNow(
  parts: CliParts,
  config: MailConfig,
  settings: MailSettings,
  letter: Letter,
): Promise<string | null> {
  try {
    const options = { ...settings, limits: commandLimits }
    const { end } = await withOutbox(parts, config, options, (outbox) =>
      deliverHeld(outbox, letter),
    )
    return end.state === 'sent' ? null : unsentText(end, letter)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return unsentText({ state: 'waiting', reason }, letter)
  }
}

function privateText(config: MailConfig): string {
  return (
    `warning: the letter links to ${baseUrl(config)}. Set DAS_PUBLIC_URL to the address that ` +
    'subscribers use.'
  )
}

const offText = 'Not mailed: mail is off. Set DAS_SMTP_URL to a mail server.'

function unsentText(
  { state, reason }: { readonly state: LetterState; readonly reason: string },
  { createdAt }: Letter,
): string {
  if (state !== 'waiting') {
    return `Not mailed: ${reason}. Give the token to the subscriber yourself.`
  }
  const end = minute(createdAt + retryLifeMs)
  return (
    `Not mailed yet: ${reason}. A server with these mail settings tries again until ${end}; ` +
    'das mail list shows waiting letters.'
  )
}

/** Opens the store again: a slow mail server must not keep the sale's transaction open. */
export async function withOutbox<T>(
  parts: CliParts,
  config: MailConfig,
  { smtp, sender, limits }: MailSettings & { readonly limits?: SmtpLimits },
  work: (outbox: OutboxParts) => Promise<T>,
): Promise<T> {
  const registry = await registryIfReadable(silent, config.registry)
  return withFilledStore(parts, config.state, async (store) =>
    work({
      store,
      mailer: smtpMailer(smtp, sender, parts.clock, limits),
      key: await keyOf(store, config.state, 'mail.key'),
      registry: () => registry,
      base: baseUrl(config),
      clock: parts.clock,
    }),
  )
}

/** A letter can be sent without the registry; other commands report the registry's mistakes. */
const silent = { stderr: { write: () => undefined } }
