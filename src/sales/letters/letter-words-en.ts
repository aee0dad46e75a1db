import type { ConnectionMeans } from '../../control/connections/connections.js'
import type { OrderKind } from '../../control/orders.js'
import { dateWriter, numberWriter, pluralChooser } from '../../wording.js'

const number = numberWriter('en')
const date = dateWriter('en-GB')
const plural = pluralChooser('en')

const days = (count: number) => `${number(count)} ${plural(count, { one: 'day', other: 'days' })}`
const months = (count: number) =>
  `${number(count)} ${plural(count, { one: 'month', other: 'months' })}`

/** The texts of letters in English. The other language has the same keys. */
export const englishLetterWords = {
  automatic: 'This e-mail was sent automatically.',
  signature: (id: string) => `Subscription ${id}.`,
  oneDataset: (title: string) => title,
  datasets: (count: number) => `${count} datasets`,
  plan: (title: string, dataset: string, plan: string) => `${title} (${dataset}), plan ${plan}`,
  removed: (title: string, dataset: string) => `${title} (${dataset}): no longer included`,
  rowsAMonth: (count: number) =>
    `${number(count)} ${plural(count, { one: 'row', other: 'rows' })} a month`,
  overAll: (rows: string) => `Over all datasets together: ${rows}`,
  history: (years: number | 'all') => {
    if (years === 'all') return 'the whole history'
    return years === 1 ? 'the latest year' : `the latest ${number(years)} years`
  },
  access: (until: number) => `Until ${date(until)}, you have access to:`,
  receipt: (id: string, time: number | null, rub: number) =>
    `Order ${id}${time === null ? '' : ` for ${months(time)}`}: ` +
    `${rub === 0 ? 'free of charge' : `${number(rub)} RUB, paid`}.`,
  newToken: {
    subject: (name: string) => `Your access to ${name}`,
    opening: 'Thank you for your order.',
  },
  reissuedToken: {
    subject: (name: string) => `A new token for ${name}`,
    opening: (earlierUntil: number | null) =>
      'Here is a new token. ' +
      (earlierUntil === null
        ? 'Earlier tokens no longer work.'
        : `Earlier tokens work until ${date(earlierUntil)}.`),
  },
  token: {
    yours: 'Your token:',
    use: 'Programs send it with every request, in the header Authorization. To try it, run:',
    mcp: 'AI assistants that speak MCP connect with the same header; the address of the server is:',
    signIn:
      'An assistant that asks for nothing but an address gets the same one, and opens a ' +
      'page where you paste the token.',
    keep:
      'Keep the token secret: anyone who has it can read the data in your name. If it is ' +
      'lost, or someone else may have seen it, reply to this e-mail and ask for a new one.',
  },
  portal: 'To look at the data in a browser, sign in with this e-mail address; no token is needed:',
  reminder: {
    subject: (name: string, left: number) => `Access to ${name} ends in ${days(left)}`,
    opening: (end: number, left: number) =>
      `Your subscription ends on ${date(end)}, in ${days(left)}. It includes:`,
    advice:
      'To extend it, reply to this e-mail. After that date the tokens of the ' +
      'subscription are refused; an extension makes them work again.',
  },
  orderConfirmed: {
    subject: (name: string) => `Your order for ${name} is in effect`,
    opening: 'Thank you. Your token stays the same.',
    laterSubject: (name: string) => `Your order for ${name} takes effect later`,
    laterOpening: 'Thank you. Your token stays the same, and nothing changes yet.',
    from: (at: number) => `If the subscription is renewed, from ${date(at)} on:`,
  },
  connectionMade: {
    subject: (name: string) => `An agent was connected to ${name}`,
    opening: (means: ConnectionMeans, at: number) => {
      const texts = { token: 'a token of your subscription', mail: 'a code that was mailed to you' }
      return (
        `An agent was connected with ${texts[means]} on ${date(at)}. ` +
        'The subscription includes:'
      )
    },
    unnamed: 'It gave itself no name.',
    named: (app: string) => `It calls itself “${app}”; this name is not verified.`,
    receiver: (receiver: string) => `Access went to ${receiver}.`,
    place: { computer: 'on the computer of the person who connected it', device: '' },
    ended: 'The connection has ended since then.',
    advice: (means: ConnectionMeans) => {
      const texts = {
        token:
          'someone else has your token. End the connection there, get a new token, and choose ' +
          'that the old one stops working at once:',
        mail:
          'someone else can read your e-mail. Change the password of your mailbox, and end the ' +
          'connection there:',
      }
      return (
        'If you connected it, there is nothing to do: you can end it at any time on your ' +
        `account page. If not, ${texts[means]}`
      )
    },
  },
  code: {
    subject: (site: string) => `Your code for ${site}`,
    opening: (purpose: 'order' | 'sign-in' | 'token', site: string) => {
      const texts = { order: 'order access', 'sign-in': 'sign in', token: 'get a new token' }
      return `Your code to ${texts[purpose]} on ${site}:`
    },
    use: 'Type it into the page that asked for it, within 10 minutes. Do not pass it on.',
    ignore: 'If you did not ask for a code, do nothing: without it nothing happens.',
  },
  connectCode: {
    opening: (site: string) => `Your code to connect an agent on ${site}:`,
    agent: (app: string, receiver: string) => {
      const name =
        app === '' ? 'gave itself no name' : `calls itself “${app}”, which is not verified`
      return `The agent ${name}. The code gives access to ${receiver}.`
    },
    place: {
      computer: 'on the computer where you opened the page',
      device: ' on the device where you opened the page',
    },
    ignore:
      'If you did not start this yourself, ignore this e-mail: without the code nothing ' +
      'happens. Do not tell the code to anyone who asks for it.',
  },
  appOn: (computer: string) => `an app ${computer}`,
  appOf: (scheme: string, device: string) => `an app that opens ${scheme}:// links${device}`,
  orderReceived: {
    subject: (id: string) => `Your order ${id}: how to pay`,
    opening: (id: string) => `Thank you. Your order ${id} waits for its payment:`,
  },
  orderDeclined: {
    subject: (id: string) => `Your order ${id} was declined`,
    opening: (id: string) => `Your order ${id} was declined. Do not pay it. It was:`,
  },
  newOrder: {
    subject: (id: string, rub: number) => `New order ${id}: ${number(rub)} RUB`,
    opening: (email: string, kind: OrderKind, subscriptionId: string | null) => {
      const texts = {
        new: 'a new subscription',
        renew: `more months for ${subscriptionId}`,
        change: `other plans in ${subscriptionId}`,
      }
      return `${email} ordered ${texts[kind]}:`
    },
    open:
      'When it is paid, confirm it on this page, or decline it. The link works once, for ' +
      '14 days; do not pass it on:',
    confirm: (isMore: boolean): string =>
      isMore ? 'Or on the command line:' : 'When it is paid, confirm it:',
  },
  orderDone: {
    subject: (id: string, isDeclined: boolean) =>
      `Order ${id} was ${isDeclined ? 'declined' : 'confirmed'}`,
    opening: (id: string, email: string, rub: number, isDeclined: boolean) =>
      `Order ${id} of ${email} for ${number(rub)} RUB was ` +
      `${isDeclined ? 'declined' : 'confirmed'}.`,
    whoDid: 'The audit trail says who did it:',
  },
  terms: {
    company: (name: string, inn: string) => `For ${name}, INN ${inn}`,
    time: (count: number) => `Time: ${months(count)}`,
    change: (movesTerm: boolean) =>
      movesTerm
        ? 'Time: the subscription ends one month after the confirmation; the price is a month of ' +
          'all its plans less what is unused'
        : 'Time: the end of the subscription stays',
    amount: (rub: number) => `Amount: ${number(rub)} RUB`,
    payBy: (end: number) => `To be paid by ${date(end)}`,
  },
}

/** The texts of letters in one language. */
export type LetterWords = typeof englishLetterWords
