import { takesSignIn } from '../../config.js'
import type { RedirectTarget } from '../../control/connections/redirect-target.js'
import { dateWriter, numberWriter, pluralChooser, shortTitle } from '../../wording.js'
import { code, list, text, tryToken } from './blocks.js'
import type {
  Block,
  LetterFacts,
  LetterGrant,
  LetterOrder,
  LetterSubscription,
  LetterText,
  Letters,
  Receipt,
} from './letter.js'

const number = numberWriter('en')
const date = dateWriter('en-GB')
const plural = pluralChooser('en')

const rows = (count: number) => `${number(count)} ${plural(count, { one: 'row', other: 'rows' })}`
const monthsText = (count: number) =>
  `${number(count)} ${plural(count, { one: 'month', other: 'months' })}`
const days = (count: number) => `${number(count)} ${plural(count, { one: 'day', other: 'days' })}`

/** Letters in English. */
export const englishLetters: Letters = {
  'new-token': ({ subscription, receipt, ...access }) =>
    toSubscriber(
      subscription,
      `Your access to ${nameOf(subscription)}`,
      `Thank you for your order. ${accessUntil(subscription)}`,
      [...(receipt === null ? [] : [text(receiptText(receipt))]), ...tokenBlocks(access)],
    ),
  'reissued-token': ({ subscription, previousValidUntil, ...access }) =>
    toSubscriber(
      subscription,
      `A new token for ${nameOf(subscription)}`,
      `Here is a new token. ${previousText(previousValidUntil)} ${accessUntil(subscription)}`,
      tokenBlocks(access),
    ),
  reminder: ({ subscription, daysLeft }) =>
    toSubscriber(
      subscription,
      `Access to ${nameOf(subscription)} ends in ${days(daysLeft)}`,
      `Your subscription ends on ${date(subscription.expiresAt)}, in ${days(daysLeft)}. ` +
        'It includes:',
      [
        text(
          'To extend it, reply to this e-mail. After that date the tokens of the ' +
            'subscription are refused; an extension makes them work again.',
        ),
      ],
    ),
  'order-confirmed': ({ subscription, receipt }) =>
    toSubscriber(
      subscription,
      `Your order for ${nameOf(subscription)} is in effect`,
      `Thank you. Your token stays the same. ${accessUntil(subscription)}`,
      [text(receiptText(receipt))],
    ),
  'connection-made': ({ subscription, ...made }) =>
    toSubscriber(
      subscription,
      `An agent was connected to ${nameOf(subscription)}`,
      `An agent was connected with ${meansText[made.madeBy]} on ${date(made.connectedAt)}. ` +
        'The subscription includes:',
      [
        text(
          `${
            made.app === ''
              ? 'It gave itself no name.'
              : `It calls itself “${made.app}”; this name is not verified.`
          } Access went to ${receiverText(
            made.target,
            'on the computer of the person who connected it',
          )}.`,
        ),
        ...(made.isOver ? [text('The connection has ended since then.')] : []),
        text(
          'If you connected it, there is nothing to do: you can end it at any time on your ' +
            `account page. If not, ${endText[made.madeBy]}`,
        ),
        code(made.accountUrl),
      ],
    ),
  code: ({ purpose, site, ...typed }) => ({
    subject: `Your code for ${site}`,
    blocks: [
      text(`Your code to ${purpose === 'order' ? 'order access' : 'get a new token'} on ${site}:`),
      code(typed.code),
      text(codeUse),
      text('If you did not ask for a code, do nothing: without it nothing happens.'),
      text(automatic),
    ],
  }),
  'connect-code': ({ site, app, target, ...typed }) => {
    const name = app === '' ? 'gave itself no name' : `calls itself “${app}”, which is not verified`
    const place = 'where you opened the page'
    const receiver = receiverText(target, `on the computer ${place}`, ` on the device ${place}`)
    return {
      subject: `Your code for ${site}`,
      blocks: [
        text(`Your code to connect an agent on ${site}:`),
        code(typed.code),
        text(codeUse),
        text(`The agent ${name}. The code gives access to ${receiver}.`),
        text(
          'If you did not start this yourself, ignore this e-mail: without the code nothing ' +
            'happens. Do not tell the code to anyone who asks for it.',
        ),
        text(automatic),
      ],
    }
  },
  'order-received': ({ order, payment }) =>
    aboutOrder(
      order,
      `Your order ${order.orderId}: how to pay`,
      `Thank you. Your order ${order.orderId} waits for its payment:`,
      [text(payment)],
    ),
  'order-declined': ({ order }) =>
    aboutOrder(
      order,
      `Your order ${order.orderId} was declined`,
      `Your order ${order.orderId} was declined. Do not pay it. It was:`,
    ),
  'new-order': ({ order, email }) =>
    aboutOrder(
      order,
      `New order ${order.orderId}: ${number(order.amountRub)} RUB`,
      `${email} ordered ${whatOf(order)}:`,
      [text('When it is paid, confirm it:'), code(`das order confirm ${order.orderId}`)],
    ),
}

const automatic = 'This e-mail was sent automatically.'
const codeUse = 'Type it into the page that asked for it, within 10 minutes. Do not pass it on.'

const meansText = {
  token: 'a token of your subscription',
  mail: 'a code that was mailed to you',
} as const

const endText = {
  token:
    'someone else has your token. End the connection there, get a new token, and choose that the ' +
    'old one stops working at once:',
  mail:
    'someone else can read your e-mail. Change the password of your mailbox, and end the ' +
    'connection there:',
} as const

function toSubscriber(
  { subscriptionId, grants, globalRows }: LetterSubscription,
  subject: string,
  opening: string,
  blocks: readonly Block[],
): LetterText {
  const cap = globalRows === null ? [] : [`Over all datasets together: ${rows(globalRows)} a month`]
  const items = list([...grants.map(grantText), ...cap])
  const signature = text(`Subscription ${subscriptionId}. ${automatic}`)
  return { subject, blocks: [text(opening), items, ...blocks, signature] }
}

function aboutOrder(
  { items, months, amountRub, payUntil }: LetterOrder,
  subject: string,
  opening: string,
  blocks: readonly Block[] = [],
): LetterText {
  const terms = [
    ...items.map(planText),
    ...(months === null ? [] : [`Time: ${monthsText(months)}`]),
    `Amount: ${number(amountRub)} RUB`,
    `To be paid by ${date(payUntil)}`,
  ]
  return { subject, blocks: [text(opening), list(terms), ...blocks, text(automatic)] }
}

function tokenBlocks({ token, base }: Pick<LetterFacts['new-token'], 'token' | 'base'>) {
  return [
    text('Your token:'),
    code(token),
    text('Send it with every request, in the header Authorization. To try it, run:'),
    tryToken(token, base),
    text(
      'AI assistants that speak MCP connect with the same header; the address of the server is:',
    ),
    code(`${base}/mcp/`),
    ...(takesSignIn(base)
      ? [
          text(
            'An assistant that asks for nothing but an address gets the same one, and opens a ' +
              'page where you paste the token.',
          ),
        ]
      : []),
    text(
      'Keep the token secret: anyone who has it can read the data in your name. If it is ' +
        'lost, or someone else may have seen it, reply to this e-mail and ask for a new one.',
    ),
  ]
}

function nameOf({ grants }: LetterSubscription): string {
  const [first] = grants
  return grants.length === 1 && first ? shortTitle(first.title) : `${grants.length} datasets`
}

function accessUntil({ expiresAt }: LetterSubscription): string {
  return `Until ${date(expiresAt)}, you have access to:`
}

function planText({ title, dataset, plan }: LetterGrant): string {
  return `${title} (${dataset}), plan ${plan}`
}

function grantText(grant: LetterGrant): string {
  const { offer } = grant
  if (offer === null) return planText(grant)
  return `${planText(grant)}: ${rows(offer.rowsPerMonth)} a month, ${historyText(offer.history)}`
}

function receiptText({ orderId, months, amountRub }: Receipt): string {
  const time = months === null ? '' : ` for ${monthsText(months)}`
  const price = amountRub === 0 ? 'free of charge' : `${number(amountRub)} RUB, paid`
  return `Order ${orderId}${time}: ${price}.`
}

function receiverText(target: RedirectTarget, computer: string, device = ''): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return `an app ${computer}`
    case 'app':
      return `an app that opens ${target.scheme}:// links${device}`
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

function whatOf({ kind, subscriptionId }: LetterOrder): string {
  switch (kind) {
    case 'new':
      return 'a new subscription'
    case 'renew':
      return `more months for ${subscriptionId}`
    case 'change':
      return `other plans in ${subscriptionId}`
  }
}
