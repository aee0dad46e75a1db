import { takesSignIn } from '../config.js'
import type { Language } from '../config.js'
import type { LetterSubscription, LetterTopic, LetterWords } from './letter-content.js'
import { englishLetterWords } from './letter-words-en.js'
import { russianLetterWords } from './letter-words-ru.js'

/** A part of a letter, for text and HTML. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  /** To be copied unchanged. */
  | { readonly kind: 'code'; readonly text: string }

export interface LetterText {
  /** Never contains a token. */
  readonly subject: string
  readonly blocks: readonly Block[]
}

const words: Readonly<Record<Language, LetterWords>> = {
  en: englishLetterWords,
  ru: russianLetterWords,
}

/** The subject and the blocks of a letter, in its language. */
export function writeLetter(
  language: Language,
  subscription: LetterSubscription,
  topic: LetterTopic,
): LetterText {
  const say = words[language]
  const cap = subscription.globalRows === null ? [] : [say.globalRows(subscription.globalRows)]
  return {
    subject: say.subject(topic, subscription.grants),
    blocks: [
      { kind: 'text', text: say.opening(topic, subscription) },
      { kind: 'list', items: [...subscription.grants.map(say.grant), ...cap] },
      ...topicBlocks(say, topic),
      textBlock(say.signature(subscription.subscriptionId)),
    ],
  }
}

function topicBlocks(say: LetterWords, topic: LetterTopic): readonly Block[] {
  switch (topic.kind) {
    case 'reminder':
      return [textBlock(say.goOn)]
    case 'order-confirmed':
      return [textBlock(say.receipt(topic.receipt))]
    case 'connection-made':
      return [
        textBlock(`${say.agent(topic)} ${say.receiver(topic.target)}`),
        ...(topic.isOver ? [textBlock(say.connectionOver)] : []),
        textBlock(say.endConnection[topic.madeBy]),
        { kind: 'code', text: topic.accountUrl },
      ]
    case 'new-token': {
      const receipt = topic.receipt === null ? [] : [textBlock(say.receipt(topic.receipt))]
      return [...receipt, ...tokenBlocks(say, topic)]
    }
    case 'reissued-token':
      return tokenBlocks(say, topic)
  }
}

function tokenBlocks(
  say: LetterWords,
  { token, base }: { readonly token: string; readonly base: string },
): readonly Block[] {
  const header = `Authorization: Bearer ${token}`
  return [
    textBlock(say.yourToken),
    { kind: 'code', text: token },
    textBlock(say.useToken),
    { kind: 'code', text: `curl -H '${header}' '${base.replaceAll("'", '%27')}/v1/'` },
    textBlock(say.useMcp),
    { kind: 'code', text: `${base}/mcp/` },
    ...(takesSignIn(base) ? [textBlock(say.useAddress)] : []),
    textBlock(say.keepSecret),
  ]
}

function textBlock(text: string): Block {
  return { kind: 'text', text }
}
