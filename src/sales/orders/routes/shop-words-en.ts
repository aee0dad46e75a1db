import type { RefusalReason } from '../refusals.js'
import { dateWriter, numberWriter, pluralChooser } from '../../../wording.js'

const number = numberWriter('en')
const plural = pluralChooser('en')
const forms = { one: 'month', other: 'months' }

const refusals: Readonly<Record<RefusalReason, string>> = {
  closed: 'Nothing can be ordered here at the moment.',
  email: 'Give one plain e-mail address, such as name@example.org.',
  choice: 'Choose at least one plan, and one plan for each dataset.',
  months: 'Choose 1 to 120 months. A subscription ends at most 120 months ahead.',
  early: 'A free subscription is renewed in the last month of its term.',
  code: 'The code is wrong, was used, or is no longer accepted. Check it, or ask for a new one.',
  used:
    'This code was used already, and what it was for is done: you are signed in, or look into ' +
    'your mail. Otherwise ask for a new code.',
  price: 'A price has changed since. Look at the order again.',
  'free-taken':
    'This address has a free subscription to this dataset already. If its token is lost, get a ' +
    'new one.',
  'too-many-codes': 'Too many codes were asked for. Try again in an hour.',
  'too-many-orders':
    'This address has too many orders. Pay the ones that wait, or try again tomorrow.',
  company:
    'Give the name of the company and its INN of 10 or 12 digits. A KPP has 9 characters, and ' +
    'goes with an INN of 10 digits alone. Check the digits.',
  'no-change': 'The subscription has these plans already.',
  scheduled:
    'Another plan is ordered for this dataset, and its months are paid. Order again when it has ' +
    'taken effect.',
  over: 'The subscription is over. Renew it, or order a new one.',
  unknown: 'This address has no such subscription.',
}

/** The texts of the shop's pages in English. The other language has the same keys. */
export const englishShopWords = {
  refusals,
  date: dateWriter('en-GB'),
  order: 'Order access',
  orderText: 'Choose plans, and give an e-mail address: a code arrives there.',
  orderButton: 'Order',
  freeButton: 'Get a token',
  getPlan: 'How to get it',
  writeTo: 'Write to',
  closedText: 'Nothing can be ordered on this site.',
  noPlan: 'not this one',
  planChoice: (plan: string, price: string, rows: string) =>
    `${plan}: ${price}, ${rows} rows a month`,
  noCharge: 'no charge',
  aMonth: (price: string) => `${price} a month`,
  months: 'Time',
  monthsText: (count: number) => `${number(count)} ${plural(count, forms)}`,
  yearHint: 'A year costs ten months. Free plans are given for a year.',
  email: 'E-mail address',
  emailHint: 'The code and the token are sent here.',
  company: 'For a company',
  companyHint: 'Leave this empty if you order as a person. The invoice names the company.',
  companyName: 'Name of the company',
  companyInn: 'INN',
  companyKpp: 'KPP',
  companyAddress: 'Address',
  printHint:
    'The invoice was also sent to your e-mail address. Print this page: the paper has the ' +
    'invoice alone.',
  terms: 'By ordering you accept the',
  termsLink: 'terms',
  sendCode: 'Send the code',
  codeTitle: 'Type the code',
  codeText: (email: string) =>
    `A code was sent to ${email}. It works for 10 minutes, on this page only.`,
  code: 'Code of 8 digits',
  yourOrder: 'Your order',
  plan: (title: string, plan: string) => `${title}: plan ${plan}`,
  total: 'Total',
  showTotal: 'Show the total',
  paidMonths: (count: number) => `at the price of ${number(count)} ${plural(count, forms)}`,
  placeOrder: 'Order with payment',
  startFree: 'Get the token',
  sendTyped: 'Go on',
  again: 'Begin again',
  tokenTitle: 'Your token',
  tokenText: 'Copy it now: it is shown only once. It was also sent to your e-mail address.',
  tokenUntil: (end: string) => `It works at once, until ${end}.`,
  inBrowser: 'In a browser you need no token:',
  signInFirst: 'sign in with your e-mail address and look at the data',
  toData: 'Look at the data',
  tryIt: 'Try it in a terminal:',
  mcpAt: 'AI assistants that speak MCP connect to',
  waitingTitle: 'Order placed',
  waitingText: 'It waits for its payment. All of this was also sent to your e-mail address.',
  orderNumber: 'Order number',
  payUntil: 'Pay by',
  howToPay: 'How to pay',
  lostToken: 'Lost token',
  lostText:
    'Give the e-mail address of your subscription. If you type the code that arrives there, you ' +
    'get a new token.',
  nothingFound: 'This address has no live subscription.',
  chooseText: 'Choose the subscription that gets a new token.',
  chosen: (id: string, plans: string, end: string) => `${id}: ${plans}, until ${end}`,
  endsEarlier: 'End the earlier tokens now. Otherwise they work for another 24 hours.',
  reissue: 'Make a new token',
  tokenLater: 'As soon as it is paid, you get an e-mail with access to the data and the token.',
} as const

/** The texts of the shop's pages in one language. */
export type ShopWords = {
  readonly [Key in keyof typeof englishShopWords]: (typeof englishShopWords)[Key] extends string
    ? string
    : (typeof englishShopWords)[Key]
}
