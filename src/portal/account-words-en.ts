import type { ConnectionJson, DeliveryJson, OrderJson, WebhookJson } from './account-api.js'
import { dateWriter, numberWriter, pluralChooser } from '../wording.js'
import { dayWriter } from './writers.js'

const date = dateWriter('en-GB')
const number = numberWriter('en')
const plural = pluralChooser('en')

const orderKinds: Readonly<Record<OrderJson['kind'], string>> = {
  new: 'a new subscription',
  renew: 'more months',
  change: 'other plans',
}

const orderStates: Readonly<Record<OrderJson['state'], string>> = {
  waiting: 'waits for its payment',
  confirmed: 'done',
  declined: 'declined',
  expired: 'expired',
}

const connectionStates: Readonly<Record<ConnectionJson['state'], string>> = {
  live: 'connected',
  waiting: 'not connected yet',
  idle: 'idle for too long',
  revoked: 'ended',
  replayed: 'ended: its secret was used twice',
  disconnected: 'disconnected by the agent',
  displaced: 'ended: too many connections',
  replaced: 'ended with its token',
  expired: 'ended with the subscription',
  cancelled: 'ended with the subscription',
}

const eventTypes: Readonly<Record<DeliveryJson['type'], string>> = {
  'dataset.version': 'a new version of a dataset',
  'quota.80': '80 % of the rows are used',
  'quota.used': 'all rows are used',
  'subscription.ending': 'the subscription ends soon',
}

const webhookStates: Readonly<Record<WebhookJson['state'], string>> = {
  active: 'active',
  ended: 'ended: the receiver answered 410',
}

const deliveryStates: Readonly<Record<DeliveryJson['state'], string>> = {
  waiting: 'waits',
  sent: 'delivered',
  failed: 'given up',
}

/** The texts of the account page in English. The other language has the same keys. */
export const englishAccountWords = {
  /** An ISO 8601 time. */
  moment: (text: string) => date(Date.parse(text)),
  date: dayWriter('en-GB'),

  subscriptionOrders: 'Renew, change, orders',
  writeTo: 'To renew or change the subscription, write to',
  renew: 'Renew',
  renewText: 'More months begin where the time that is paid ends. A year costs ten months.',
  renewFree: (months: string) => `Free plans are renewed for ${months}.`,
  renewEffect: (end: string) => `The subscription then ends on ${end}.`,
  change: 'Change plans',
  changeText:
    'A dearer plan costs the monthly difference for each month that is left, also a begun one; ' +
    'of a year ten count. With less than a month left, it costs a month of all plans less what ' +
    'is unused, and the subscription then ends a month after the confirmation. A cheaper plan ' +
    'takes effect at the end of the paid time. The rows of this month stay counted.',
  changeEffect: (end: string) => `The end stays ${end}.`,
  changeMoves: (end: string) =>
    `The subscription ends a month after the confirmation: confirmed today, on ${end}.`,
  changeLater: (plans: string) => `From its end on: ${plans}.`,
  changePlan: (title: string, plan: string) => `${title}: ${plan}`,
  removed: 'removed',
  asNow: (plan: string) => `${plan}, as now`,
  asScheduled: (plan: string, later: string) =>
    `${plan} until the end of the paid time, then ${later}`,
  notAdded: 'not added',
  planChoice: (plan: string, price: string, rows: string) =>
    `${plan}: ${price}, ${rows} rows a month`,
  aMonth: (price: string) => `${price} a month`,
  time: 'Time',
  months: (count: number) => `${number(count)} ${plural(count, { one: 'month', other: 'months' })}`,
  showPrice: 'Show the price',
  price: 'Price',
  order: 'Order with payment',
  orderFree: 'Order',
  terms: 'By ordering you accept the',
  termsLink: 'terms',
  orders: 'Orders',
  noOrders: 'Nothing was ordered so far.',
  orderKinds,
  orderStates,
  takesEffect: (on: string) => `takes effect on ${on}`,
  number: 'Number',
  orderedOn: 'Ordered on',
  doneOn: 'Done on',
  what: 'What',
  amount: 'Amount',
  payUntil: 'Pay by',
  plans: 'Plans',
  howToPay: 'How to pay',
  receipt: 'Receipt',
  papers: { invoice: 'Invoice', receipt: 'Receipt' },
  receiptOf: (order: string) => `Receipt of ${order}`,
  orderNumber: (order: string) => `Order ${order}`,
  print: 'Print',
  back: 'Back',

  reissue: 'A new token',
  reissueText:
    'If the token may be known to others, exchange it for a new one. A code is mailed to the ' +
    'address of the subscription; agents that signed in with the old token must sign in again.',
  sendCode: 'Mail me a code',
  newCode: 'Mail another code',
  codeSent: 'A code was mailed to the address of the subscription. It works for 10 minutes.',
  code: 'Code of 8 digits',
  endEarlier: 'The old token stops working at once',
  getToken: 'Get a new token',
  tokenShown: 'This is your new token. Copy it now: it is shown only once. It was also mailed.',
  earlierUntil: (end: string) => `The old one works until ${end}.`,
  earlierEnded: 'The old one no longer works.',

  connections: 'Agents',
  connectionsText:
    'Programs that signed in with a token of this subscription. What they read counts toward its ' +
    'rows.',
  noConnections: 'No agent has signed in.',
  app: 'App',
  accessOf: 'Access goes to',
  connectedOn: 'Connected',
  lastUsedOn: 'Last used',
  state: 'State',
  action: 'Action',
  connectionStates,
  notYet: 'not yet',
  never: 'never',
  thisComputer: 'an app on your computer',
  end: 'End',
  endOf: (app: string) => `End the connection of ${app}`,
  connectionEnded: (app: string) => `The connection of ${app} has ended.`,

  webhooks: 'Webhooks',
  webhooksText: 'Addresses to which a signed message is sent when something happens.',
  noWebhooks: 'There are no webhooks.',
  url: 'Address (https)',
  events: 'Events',
  eventTypes,
  webhookStates,
  watchList: 'Watch list',
  add: 'Add',
  remove: 'Delete',
  deleted: (name: string) => `Deleted: ${name}.`,
  test: 'Send a test',
  tested: 'The test was delivered.',
  newSecret: 'New secret',
  secretShown: 'This is the secret. Copy it now: it is shown only once.',
  deliveries: 'Messages',
  deliveriesText: (url: string) => `Of the last 30 days, to ${url}.`,
  noDeliveries: 'There are no messages.',
  deliveryStates,
  at: 'Time',
  attempts: 'Attempts',
  result: 'Last answer',
  resend: 'Send again',
  resent: (n: string) => `Message ${n} is sent again.`,
  earlier: 'Earlier ones',
  watchLists: 'Watch lists',
  watchListsText:
    'Values of a column. A webhook that names a list is sent a new version only when something ' +
    'in the list changed.',
  noWatchLists: 'There are no watch lists.',
  name: 'Name',
  column: 'Column',
  values: 'Values, one in each line',
  count: 'Values',
  stored: (name: string) => `Stored: ${name}.`,
}

/** The texts of the account page in one language. */
export type AccountWords = typeof englishAccountWords

/** What became of an order, or when it will take effect. */
export function orderStateText(
  say: AccountWords,
  { state, takes_effect_at: on }: Pick<OrderJson, 'state' | 'takes_effect_at'>,
): string {
  return on === null ? say.orderStates[state] : say.takesEffect(say.date(on))
}
