import { join, resolve } from 'node:path'
import { readRegistry } from '../../catalog.js'
import type { Config } from '../../config.js'
import { queueTokenLetter } from '../../control/letters.js'
import type { Letter, LetterState } from '../../control/letters.js'
import { readKey } from '../../control/store/key-file.js'
import type { ControlStore } from '../../control/store/store.js'
import type { IssuedToken } from '../../control/tokens/tokens.js'
import { readMailSettings } from '../../mail/mail-settings.js'
import type { MailSettings } from '../../mail/mail-settings.js'
import { deliverHeld, holdLetter, letterLifeMs } from '../../mail/outbox.js'
import type { OutboxParts } from '../../mail/outbox.js'
import { sealToken } from '../../mail/seal.js'
import { commandLimits } from '../../mail/smtp-limits.js'
import type { SmtpLimits } from '../../mail/smtp-limits.js'
import { smtpMailer } from '../../mail/smtp.js'
import { RegistryError } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { baseUrl } from '../../service/first-questions.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { minute, printLines } from '../print.js'
import { withFilledStoreAsync } from '../state.js'

/** The settings of commands that mail. */
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

/** What `--no-mail` leaves in the flags. */
export type MailFlags = Flags & { readonly mail: boolean }

/** Whether and how a command mails a token. */
export type Mailing =
  | { readonly kind: 'on'; readonly settings: MailSettings }
  /** Nobody asked for it. */
  | { readonly kind: 'declined' }
  /** There is no mail server. */
  | { readonly kind: 'off' }

export const noMailFlag = ['--no-mail', 'mail no letter: pass the token on yourself'] as const

/**
 * Whether a command mails, by its settings and `--no-mail`.
 * @throws bad_request when there is a mail server and no sender
 */
export function readMailing(config: MailConfig, { mail }: MailFlags): Mailing {
  if (!mail) return { kind: 'declined' }
  const settings = readMailSettings(config)
  return settings === null ? { kind: 'off' } : { kind: 'on', settings }
}

/** A token that was issued, and its letter where one was queued. */
export type Issued<T> = T & { readonly letter: Letter | undefined }

/**
 * Issues a token and queues its letter, both or neither; the letter is held for this process, so
 * that no server is quicker.
 */
export function issueWithLetter<T extends IssuedToken & { readonly subscriptionId: string }>(
  store: ControlStore,
  options: {
    readonly mailing: Mailing
    readonly stateFolder: string
    readonly kind: 'new-token' | 'reissued-token'
    readonly now: () => number
    readonly issue: () => T
  },
): Issued<T> {
  const { mailing, stateFolder, kind, now, issue } = options
  const key = mailing.kind === 'on' ? readKey(keyPath(stateFolder)) : null
  return store.write(() => {
    const issued = issue()
    if (key === null) return { ...issued, letter: undefined }
    const { subscriptionId, tokenId, token } = issued
    const sealedToken = sealToken(key, tokenId, token)
    const facts = { subscriptionId, tokenId, sealedToken, kind, now: now() }
    const letterId = queueTokenLetter(store, facts)
    return { ...issued, letter: holdLetter({ store, now }, { letterId }) }
  })
}

/**
 * Mails the letter of a token that was just issued, and says how that went: on stdout where it
 * went well or mail is off, else on stderr. Returns whether the mail server has taken the letter;
 * whatever goes wrong here is no failure of the sale.
 */
export async function mailToken(
  parts: CliParts,
  config: MailConfig,
  {
    mailing,
    letter,
    email,
    isJson,
  }: {
    readonly mailing: Mailing
    readonly letter: Letter | undefined
    readonly email: string
    readonly isJson: boolean
  },
): Promise<boolean> {
  if (mailing.kind === 'off' && !isJson) printLines(parts, '', offText)
  if (mailing.kind !== 'on' || letter === undefined) return false
  if (config.publicUrl === null) parts.stderr.write(`${privateText(config)}\n`)
  const unsent = await mailNow(parts, config, mailing.settings, letter)
  if (unsent !== null) parts.stderr.write(`${unsent}\n`)
  else if (!isJson) printLines(parts, '', `Mailed to ${email}.`)
  return unsent === null
}

/** Null where the letter was sent, else a line that says why it was not. */
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
  return `warning: the letter points to ${baseUrl(config)}: DAS_PUBLIC_URL is the address that users see.`
}

const offText = 'Not mailed: mail is off until DAS_SMTP_URL names a mail server.'

function unsentText(
  { state, reason }: { readonly state: LetterState; readonly reason: string },
  { createdAt }: Letter,
): string {
  if (state !== 'waiting') return `Not mailed: ${reason}; pass the token on yourself.`
  const end = minute(createdAt + letterLifeMs)
  return `Not mailed yet: ${reason}. A server with these mail settings tries again until ${end}; das mail list shows what waits.`
}

/** Opens the store once more, to send: the one of the sale is closed, whatever the network does. */
export async function withOutbox<T>(
  parts: CliParts,
  config: MailConfig,
  { smtp, sender, limits }: MailSettings & { readonly limits?: SmtpLimits },
  work: (outbox: OutboxParts) => Promise<T>,
): Promise<T> {
  const registry = await registryOrNull(config.registry)
  return withFilledStoreAsync(config.state, (store) =>
    work({
      store,
      mailer: smtpMailer(smtp, sender, limits),
      key: readKey(keyPath(config.state)),
      registry: () => registry,
      base: baseUrl(config),
      now: parts.now,
    }),
  )
}

/** A letter does without titles and plans; the registry's mistakes are told by other commands. */
async function registryOrNull(path: string): Promise<Registry | null> {
  try {
    return await readRegistry(path)
  } catch (cause) {
    if (cause instanceof RegistryError) return null
    throw cause
  }
}

function keyPath(stateFolder: string): string {
  return join(resolve(stateFolder), 'mail.key')
}
