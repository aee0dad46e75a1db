import type { Language } from '../../config.js'

/** A letter that can be sent. */
export interface MailMessage {
  /** The same at every attempt: it identifies a letter that arrives twice. */
  readonly id: string
  readonly to: string | readonly string[]
  readonly language: Language
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Files in HTML. */
  readonly attachments?: readonly { readonly filename: string; readonly html: string }[]
  /** Ms since the epoch. */
  readonly writtenAt: number
}

/** The port for sending letters; `smtp.ts` implements it. */
export interface Mailer {
  /**
   * Resolves when the mail server has accepted the letter.
   * @throws MailError when it did not, or when that is unknown
   */
  readonly send: (message: MailMessage, signal?: AbortSignal) => Promise<void>
}

/** Why a letter was not sent: one line, without password or token. */
export class MailError extends Error {
  /** The server would refuse the same letter again. */
  readonly isPermanent: boolean

  constructor(message: string, { isPermanent }: { readonly isPermanent: boolean }) {
    super(message)
    this.name = 'MailError'
    this.isPermanent = isPermanent
  }
}
