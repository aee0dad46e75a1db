import { MailError } from '../../src/sales/letters/mailer.js'
import type { Mailer, MailMessage } from '../../src/sales/letters/mailer.js'
import type { Machine } from './machine/machine.js'

/** The post: takes letters, or is closed for a while. It keeps what it took, whatever dies. */
export class Post {
  readonly letters: MailMessage[] = []
  isClosed = false
  /** By the wall clock. */
  closedAt = 0
  /** It was never closed for long: no letter may be given up. */
  isReliable = true
  /** How often the end of an attempt may not have been saved. */
  unsaved = 0

  /** How the service reaches the post from a machine. */
  mailer(machine: Machine): Mailer {
    return {
      send: async (message) => {
        machine.step('letter', () => 'letter')
        if (this.isClosed) throw new MailError('no answer', { isPermanent: false })
        this.letters.push(message)
        await machine.hold(() => Promise.resolve())
      },
    }
  }

  /** The newest code for an address. */
  codeFor(email: string): string {
    const found = this.letters.findLast(({ to, text }) => to === email && codeIn(text) !== null)
    return codeIn(found?.text ?? '') ?? 'no code'
  }
}

function codeIn(text: string): string | null {
  return /^ {4}(\d{8})$/m.exec(text)?.[1] ?? null
}
