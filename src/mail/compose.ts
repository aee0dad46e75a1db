import type { Letter } from '../control/letters.js'
import type { ControlStore } from '../control/store/store.js'
import { composeCodeLetter, composeOrderLetter } from './compose-shop-letter.js'
import { composeSubscriptionLetter } from './compose-subscription-letter.js'
import type { LetterParts, LetterSource, Written } from './letter-parts.js'
import type { MailMessage } from './mailer.js'
import { renderHtml, renderText } from './render.js'

/** A message, or the reason why the letter is dropped. */
export type Composed = { readonly message: MailMessage } | { readonly dropped: string }

/** Writes a letter with the data of `now`; drops it when it is no longer true. */
export async function composeLetter(
  store: ControlStore,
  letter: Letter,
  source: LetterSource,
  now: number,
): Promise<Composed> {
  const written = await write({ store, letter, source, now })
  if ('dropped' in written) return written
  const { to, language, text } = written
  return {
    message: {
      id: messageId(letter),
      to,
      language,
      subject: text.subject,
      text: renderText(text),
      html: renderHtml(text, language),
      writtenAt: now,
    },
  }
}

async function write(parts: LetterParts): Promise<Written> {
  const { kind, subscriptionId, orderId, codeId } = parts.letter
  switch (kind) {
    case 'new-token':
    case 'reissued-token':
    case 'reminder':
    case 'order-confirmed':
    case 'connection-made':
      return await composeSubscriptionLetter(parts, idOf(subscriptionId))
    case 'order-received':
    case 'order-declined':
    case 'new-order':
      return await composeOrderLetter(parts, kind, idOf(orderId))
    case 'code':
      return await composeCodeLetter(parts, idOf(codeId))
  }
}

/** Every letter was queued with the id of what it is about. */
function idOf(id: string | null): string {
  if (id !== null) return id
  throw new Error('a letter is about nothing')
}

/** With the time: a new control.db counts letters from 1 again. */
function messageId({ letterId, createdAt }: Letter): string {
  return `letter-${letterId}-${createdAt}`
}
