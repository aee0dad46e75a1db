import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import type { Jobs } from '../control/jobs.js'
import { keyOf } from '../control/keys.js'
import type { LetterState } from '../control/letters.js'
import type { ControlStore } from '../control/store/store.js'
import { LetterSender } from '../sales/letters/letter-sender.js'
import type { MailSettings } from '../sales/letters/mail-settings.js'
import type { Mailer } from '../sales/letters/mailer.js'
import { smtpMailer } from '../sales/letters/smtp.js'
import type { Registry } from '../registry/registry.js'
import { baseUrl } from '../service/first-questions.js'

interface MailParts {
  readonly config: Config
  /** Null when mail is off. */
  readonly mail: MailSettings | null
  readonly folder: string
  readonly store: ControlStore
  readonly jobs: Jobs
  /** The registry that is served now. */
  readonly registry: () => Registry
  readonly clock: Clock
  readonly logger: FastifyBaseLogger
  readonly onAttempt?: (end: LetterState) => void
  /** Over SMTP when left out. */
  readonly mailer?: Mailer
}

/** The sender of a server's letters, not started yet; null when mail is off. */
export async function openLetterSender(parts: MailParts): Promise<LetterSender | null> {
  const { config, mail, folder, store, jobs, registry, clock, logger, onAttempt } = parts
  if (mail === null) return null
  const base = baseUrl(config)
  if (config.publicUrl === null) {
    logger.warn(
      { address: base },
      'links in letters use this address; set DAS_PUBLIC_URL to change it',
    )
  }
  const mailer = parts.mailer ?? smtpMailer(mail.smtp, mail.sender, clock)
  const key = await keyOf(store, folder, 'mail.key')
  const outbox = { store, jobs, clock, logger, base, mailer, key, registry }
  return new LetterSender({ ...outbox, ...(onAttempt && { onAttempt }) })
}
