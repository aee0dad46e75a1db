import type { Language } from '../config.js'
import type { Grant } from '../control/grants.js'
import type { Letter } from '../control/letters.js'
import type { ControlStore } from '../control/store/store.js'
import { showSubscription } from '../control/subscriptions.js'
import type { Subscription } from '../control/subscriptions.js'
import { listTokens } from '../control/tokens/tokens.js'
import { textIn } from '../registry/local-text.js'
import { planOf } from '../registry/registry.js'
import type { Registry } from '../registry/registry.js'
import type { LetterGrant, LetterTopic } from './letter-content.js'
import { writeLetter } from './letter.js'
import type { MailMessage } from './mailer.js'
import { renderHtml, renderText } from './render.js'
import { openToken } from './seal.js'

/** The data of letters that is not in the control store. */
export interface LetterSource {
  /** Decrypts sealed tokens. */
  readonly key: Uint8Array
  /** Titles and plans; null when it can't be read: then letters leave them out. */
  readonly registry: () => Registry | null
  /** The server's address for subscribers. */
  readonly base: string
}

/** A message, or the reason why the letter is dropped. */
export type Composed = { readonly message: MailMessage } | { readonly dropped: string }

type Topic = { readonly topic: LetterTopic } | { readonly dropped: string }

const dayMs = 24 * 3_600_000

/** Writes a letter with the data of `now`; drops it when it is no longer true. */
export function composeLetter(
  store: ControlStore,
  letter: Letter,
  source: LetterSource,
  now: number,
): Composed {
  const subscription = showSubscription(store, letter.subscriptionId)
  if (subscription.cancelledAt !== null) return { dropped: 'the subscription was cancelled' }
  if (subscription.expiresAt <= now) return { dropped: 'the subscription is over' }
  const read = letter.kind === 'reminder' ? reminderTopic : tokenTopic
  const made = read({ store, letter, subscription, source, now })
  if ('dropped' in made) return made
  const { email, language, grants } = subscription
  const registry = source.registry()
  const named = {
    ...subscription,
    grants: grants.map((grant) => nameGrant(registry, grant, language)),
  }
  const text = writeLetter(language, named, made.topic)
  return {
    message: {
      id: messageId(letter),
      to: email,
      language,
      subject: text.subject,
      text: renderText(text),
      html: renderHtml(text, language),
      writtenAt: now,
    },
  }
}

interface TopicSource {
  readonly store: ControlStore
  readonly letter: Letter
  readonly subscription: Subscription
  readonly source: LetterSource
  readonly now: number
}

function reminderTopic({ letter, subscription, now }: TopicSource): Topic {
  if (letter.expiresAt !== subscription.expiresAt) {
    return { dropped: 'the subscription was extended' }
  }
  const daysLeft = Math.ceil((subscription.expiresAt - now) / dayMs)
  return { topic: { kind: 'reminder', daysLeft } }
}

function tokenTopic({ store, letter, source, now }: TopicSource): Topic {
  const tokens = listTokens(store, letter.subscriptionId)
  const own = tokens.find(({ tokenId }) => tokenId === letter.tokenId)
  if (own === undefined || own.revokedAt !== null) return { dropped: 'the token was revoked' }
  if (own.expiresAt !== null) return { dropped: 'a newer token replaced the token' }
  const token = openToken(source.key, own.tokenId, letter.sealedToken ?? Buffer.alloc(0))
  if (token === undefined) {
    return { dropped: "the token can't be opened: mail.key is not the one that it was sealed with" }
  }
  const { base } = source
  if (letter.kind !== 'reissued-token') return { topic: { kind: 'new-token', token, base } }
  const ends = tokens.flatMap(({ expiresAt, revokedAt }) =>
    expiresAt !== null && expiresAt > now && revokedAt === null ? [expiresAt] : [],
  )
  const previousValidUntil = ends.length === 0 ? null : Math.max(...ends)
  return { topic: { kind: 'reissued-token', token, base, previousValidUntil } }
}

function nameGrant(
  registry: Registry | null,
  { dataset, plan }: Grant,
  language: Language,
): LetterGrant {
  const entry = registry?.datasets.get(dataset)
  const offer = planOf(registry, { dataset, plan }) ?? null
  const title = entry ? textIn(language, entry.title) : dataset
  return { title, dataset, plan, offer }
}

/** With the time: a new control.db counts letters from 1 again. */
function messageId({ letterId, createdAt }: Letter): string {
  return `letter-${letterId}-${createdAt}`
}
