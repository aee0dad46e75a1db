import { dateWriter, numberWriter, pluralChooser, shortTitle } from '../wording.js'
import type { RedirectTarget } from '../control/connections/redirect-target.js'
import type { LetterGrant, LetterTopic, LetterWords } from './letter-content.js'

const number = numberWriter('en')
const date = dateWriter('en-GB')
const plural = pluralChooser('en')

const rows = (count: number) => `${number(count)} ${plural(count, { one: 'row', other: 'rows' })}`
const monthsText = (count: number) =>
  `${number(count)} ${plural(count, { one: 'month', other: 'months' })}`
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
  receipt: ({ orderId, months, amountRub }) => {
    const time = months === null ? '' : ` for ${monthsText(months)}`
    const price = amountRub === 0 ? 'free of charge' : `${number(amountRub)} RUB, paid`
    return `Order ${orderId}${time}: ${price}.`
  },
  yourToken: 'Your token:',
  useToken: 'Send it with every request, in the header Authorization. To try it, run:',
  useMcp:
    'AI assistants that speak MCP connect with the same header; the address of the server is:',
  useAddress:
    'An assistant that asks for nothing but an address gets the same one, and opens a page where ' +
    'you paste the token.',
  keepSecret:
    'Keep the token secret: anyone who has it can read the data in your name. If it is lost, or ' +
    'someone else may have seen it, reply to this e-mail and ask for a new one.',
  goOn:
    'To extend it, reply to this e-mail. After that date the tokens of the subscription are ' +
    'refused; an extension makes them work again.',
  agent: ({ app }) =>
    app === '' ? 'It gave itself no name.' : `It calls itself “${app}”; this name is not verified.`,
  receiver: (target) => `Access went to ${receiverText(target)}.`,
  connectionOver: 'The connection has ended since then.',
  endConnection: {
    token:
      'If you connected it, there is nothing to do: you can end it at any time on your account ' +
      'page. If not, someone else has your token. End the connection there, get a new token, and ' +
      'choose that the old one stops working at once:',
    mail:
      'If you connected it, there is nothing to do: you can end it at any time on your account ' +
      'page. If not, someone else can read your e-mail. Change the password of your mailbox, and ' +
      'end the connection there:',
  },
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
    case 'order-confirmed':
      return `Your order for ${name} is in effect`
    case 'connection-made':
      return `An agent was connected to ${name}`
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
    case 'order-confirmed':
      return `Thank you. Your token stays the same. Until ${end}, you have access to:`
    case 'connection-made':
      return (
        `An agent was connected with ${meansText[topic.madeBy]} on ` +
        `${date(topic.connectedAt)}. The subscription includes:`
      )
  }
}

const meansText = {
  token: 'a token of your subscription',
  mail: 'a code that was mailed to you',
} as const

function receiverText(target: RedirectTarget): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return 'an app on the computer of the person who connected it'
    case 'app':
      return `an app that opens ${target.scheme}:// links`
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
