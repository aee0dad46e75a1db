import { dateWriter, numberWriter, pluralChooser, shortTitle } from '../wording.js'
import type { LetterGrant, LetterTopic, LetterWords } from './letter-content.js'

const number = numberWriter('en')
const date = dateWriter('en-GB')
const plural = pluralChooser('en')

const rows = (count: number) => `${number(count)} ${plural(count, { one: 'row', other: 'rows' })}`
const days = (count: number) => `${number(count)} ${plural(count, { one: 'day', other: 'days' })}`

/** Letters in English. */
export const englishLetterWords: LetterWords = {
  subject,
  opening,
  grant: ({ title, dataset, plan, offer }) => {
    const name = `${title} (${dataset}), plan ${plan}`
    if (offer === null) return name
    return `${name}: ${rows(offer.rowsPerMonth)} a month, ${historyText(offer.history)}`
  },
  globalRows: (count) => `Over all datasets together: ${rows(count)} a month`,
  yourToken: 'Your token:',
  useToken: 'Send it with every request, in the header Authorization. To try it, run:',
  useMcp:
    'AI assistants that speak MCP connect with the same header; the address of the server is:',
  keepSecret:
    'Keep the token secret: anyone who has it can read the data in your name. If it is lost, or ' +
    'someone else may have seen it, reply to this e-mail and ask for a new one.',
  goOn:
    'To extend it, reply to this e-mail. After that date the tokens of the subscription are ' +
    'refused; an extension makes them work again.',
  signature: (id) => `Subscription ${id}. This e-mail was sent automatically.`,
}

function subject(topic: LetterTopic, grants: readonly LetterGrant[]): string {
  const [first] = grants
  const name = grants.length === 1 && first ? shortTitle(first.title) : `${grants.length} datasets`
  switch (topic.kind) {
    case 'new-token':
      return `Your access to ${name}`
    case 'reissued-token':
      return `A new token for ${name}`
    case 'reminder':
      return `Access to ${name} ends in ${days(topic.daysLeft)}`
  }
}

function opening(topic: LetterTopic, { expiresAt }: { readonly expiresAt: number }): string {
  const end = date(expiresAt)
  switch (topic.kind) {
    case 'new-token':
      return `Thank you for your order. Until ${end}, you have access to:`
    case 'reissued-token':
      return (
        `Here is a new token. ${previousText(topic.previousValidUntil)} ` +
        `Until ${end}, you have access to:`
      )
    case 'reminder':
      return `Your subscription ends on ${end}, in ${days(topic.daysLeft)}. It includes:`
  }
}

function previousText(validUntil: number | null): string {
  if (validUntil === null) return 'Earlier tokens no longer work.'
  return `Earlier tokens work until ${date(validUntil)}.`
}

function historyText(history: number | 'all'): string {
  if (history === 'all') return 'the whole history'
  return history === 1 ? 'the latest year' : `the latest ${number(history)} years`
}
