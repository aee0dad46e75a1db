import { dateWriter, numberWriter, pluralChooser } from '../../wording.js'
import type { RedirectTarget } from '../../control/connections/redirect-target.js'
import type { LetterOrder, ShopLetterWords, ShopTopic } from './shop-content.js'

const number = numberWriter('en')
const date = dateWriter('en-GB')
const plural = pluralChooser('en')

/** The shop's letters in English. */
export const englishShopWords: ShopLetterWords = {
  subject,
  opening,
  item: ({ title, dataset, plan }) => `${title} (${dataset}), plan ${plan}`,
  terms: ({ months, amountRub, payUntil }) => [
    ...(months === null
      ? []
      : [`Time: ${number(months)} ${plural(months, { one: 'month', other: 'months' })}`]),
    `Amount: ${number(amountRub)} RUB`,
    `To be paid by ${date(payUntil)}`,
  ],
  codeUse: 'Type it into the page that asked for it, within 10 minutes. Do not pass it on.',
  codeUnknown: 'If you did not ask for a code, do nothing: without it nothing happens.',
  asked: ({ app, target }) => {
    const name = app === '' ? 'gave itself no name' : `calls itself “${app}”, which is not verified`
    return `The agent ${name}. The code gives access to ${receiverText(target)}.`
  },
  askedUnknown:
    'If you did not start this yourself, ignore this e-mail: without the code nothing happens. ' +
    'Do not tell the code to anyone who asks for it.',
  howToConfirm: 'When it is paid, confirm it:',
  automatic: 'This e-mail was sent automatically.',
}

function subject(topic: ShopTopic): string {
  switch (topic.kind) {
    case 'code':
    case 'connect-code':
      return `Your code for ${topic.site}`
    case 'order-received':
      return `Your order ${topic.order.orderId}: how to pay`
    case 'order-declined':
      return `Your order ${topic.order.orderId} was declined`
    case 'new-order':
      return `New order ${topic.order.orderId}: ${number(topic.order.amountRub)} RUB`
  }
}

function opening(topic: ShopTopic): string {
  switch (topic.kind) {
    case 'code':
      return topic.purpose === 'order'
        ? `Your code to order access on ${topic.site}:`
        : `Your code to get a new token on ${topic.site}:`
    case 'connect-code':
      return `Your code to connect an agent on ${topic.site}:`
    case 'order-received':
      return `Thank you. Your order ${topic.order.orderId} waits for its payment:`
    case 'order-declined':
      return `Your order ${topic.order.orderId} was declined. Do not pay it. It was:`
    case 'new-order':
      return `${topic.email} ordered ${whatOf(topic.order)}:`
  }
}

function receiverText(target: RedirectTarget): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return 'an app on the computer where you opened the page'
    case 'app':
      return `an app that opens ${target.scheme}:// links on the device where you opened the page`
  }
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
