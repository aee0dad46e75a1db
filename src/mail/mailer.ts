import type { Language } from '../config.js'

/** A letter that is written and can be sent. */
export interface MailMessage {
  /** The same at every attempt, so that a letter that came twice is known by it. */
  readonly id: string
  readonly to: string
  readonly language: Language
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Ms since the epoch. */
  readonly writtenAt: number
}

/** The port: what carries letters away. `smtp.ts` is the one that does. */
export interface Mailer {
  /**
   * Resolves when the mail server has taken the letter.
   * @throws MailError when it has not, or when nobody can know
   */
  readonly send: (message: MailMessage, signal?: AbortSignal) => Promise<void>
}

/** Why a letter was not sent: one line in plain words, without password or token. */
export class MailError extends Error {
  /** The same letter would be refused again. */
  readonly isPermanent: boolean

  constructor(message: string, { isPermanent }: { readonly isPermanent: boolean }) {
    super(message)
    this.name = 'MailError'
    this.isPermanent = isPermanent
  }
}
