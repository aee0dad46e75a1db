import { sessionCookieAt } from '../../access/session-cookie.js'
import { takesSignIn } from '../../config.js'
import type { Language } from '../../config.js'
import type { RedirectTarget } from '../../control/connections/redirect-target.js'
import { shortTitle } from '../../wording.js'
import { englishLetterWords } from './letter-words-en.js'
import type { LetterWords } from './letter-words-en.js'
import { russianLetterWords } from './letter-words-ru.js'
import type {
  Block,
  LetterFacts,
  LetterGrant,
  LetterOrder,
  LetterSubscription,
  LetterText,
  LetterTopic,
  Receipt,
} from './letter.js'

const words: Readonly<Record<Language, LetterWords>> = {
  en: englishLetterWords,
  ru: russianLetterWords,
}

/** The subject and the blocks of a letter, in its language. */
export function writeLetter(language: Language, topic: LetterTopic): LetterText {
  const write = letters[topic.kind] as (say: LetterWords, facts: LetterTopic) => LetterText
  return write(words[language], topic)
}

const letters: {
  readonly [Kind in keyof LetterFacts]: (say: LetterWords, facts: LetterFacts[Kind]) => LetterText
} = {
  'new-token': (say, { subscription, receipt, ...access }) => ({
    subject: say.newToken.subject(nameOf(say, subscription)),
    blocks: subscriberBlocks(
      say,
      subscription,
      openingOf(say, subscription, say.newToken.opening),
      [...(receipt === null ? [] : [receiptBlock(say, receipt)]), ...tokenBlocks(say, access)],
    ),
  }),
  'reissued-token': (say, { subscription, previousValidUntil, ...access }) => {
    const opening = say.reissuedToken.opening(previousValidUntil)
    return {
      subject: say.reissuedToken.subject(nameOf(say, subscription)),
      blocks: subscriberBlocks(
        say,
        subscription,
        openingOf(say, subscription, opening),
        tokenBlocks(say, access),
      ),
    }
  },
  reminder: (say, { subscription, daysLeft, base }) => {
    const { subject, opening, advice } = say.reminder
    return {
      subject: subject(nameOf(say, subscription), daysLeft),
      blocks: subscriberBlocks(say, subscription, opening(subscription.expiresAt, daysLeft), [
        text(advice),
        ...portalBlocks(say, base),
      ]),
    }
  },
  'order-confirmed': (say, { subscription, receipt, later, base }) => {
    const { subject, opening, laterSubject, laterOpening, from } = say.orderConfirmed
    const name = nameOf(say, subscription)
    const first =
      later === null
        ? openingOf(say, subscription, opening)
        : openingOf(say, { ...subscription, expiresAt: later.at }, laterOpening)
    return {
      subject: later === null ? subject(name) : laterSubject(name),
      blocks: subscriberBlocks(say, subscription, first, [
        ...(later === null
          ? []
          : [
              text(from(later.at)),
              { kind: 'list' as const, items: later.items.map((item) => grantText(say, item)) },
            ]),
        receiptBlock(say, receipt),
        ...portalBlocks(say, base),
      ]),
    }
  },
  'connection-made': (say, { subscription, app, target, madeBy, ...connection }) => {
    const { subject, opening, unnamed, named, receiver, place, ended, advice } = say.connectionMade
    const agent = app === '' ? unnamed : named(app)
    return {
      subject: subject(nameOf(say, subscription)),
      blocks: subscriberBlocks(say, subscription, opening(madeBy, connection.connectedAt), [
        text(`${agent} ${receiver(receiverText(say, target, place))}`),
        ...(connection.isOver ? [text(ended)] : []),
        text(advice(madeBy)),
        code(connection.accountUrl),
      ]),
    }
  },
  code: (say, { purpose, site, ...typed }) => {
    const isToken = purpose === 'lost-token' || purpose === 'reissue'
    const isSignIn = purpose === 'owner' || purpose === 'sign-in'
    const opening = say.code.opening(isToken ? 'token' : isSignIn ? 'sign-in' : purpose, site)
    return codeLetter(say, site, opening, typed.code, [say.code.ignore])
  },
  'connect-code': (say, { site, app, target, ...typed }) => {
    const { opening, agent, place, ignore } = say.connectCode
    const about = agent(app, receiverText(say, target, place))
    return codeLetter(say, site, opening(site), typed.code, [about, ignore])
  },
  'order-received': (say, { order, payment }) =>
    orderLetter(say, say.orderReceived, order, [text(payment)]),
  'order-declined': (say, { order }) => orderLetter(say, say.orderDeclined, order, []),
  'new-order': (say, { order, email, link }) => {
    const { subject, opening, confirm, open } = say.newOrder
    const { orderId, kind, subscriptionId, amountRub } = order
    return {
      subject: subject(orderId, amountRub),
      blocks: orderBlocks(say, opening(email, kind, subscriptionId), order, [
        ...(link === null ? [] : [text(open), code(link)]),
        text(confirm(link !== null)),
        code(`das order confirm ${orderId}`),
      ]),
    }
  },
  'order-done': (say, { order: { orderId, amountRub }, email, state }) => {
    const { subject, opening, whoDid } = say.orderDone
    const isDeclined = state === 'declined'
    return {
      subject: subject(orderId, isDeclined),
      blocks: [
        text(opening(orderId, email, amountRub, isDeclined)),
        text(whoDid),
        code(`das audit --subject ${orderId}`),
        text(say.automatic),
      ],
    }
  },
}

function text(content: string): Block {
  return { kind: 'text', text: content }
}

/** A line to be copied unchanged. */
function code(content: string): Block {
  return { kind: 'code', text: content }
}

/** What a subscription includes, and its number at the end. */
function subscriberBlocks(
  say: LetterWords,
  { subscriptionId, grants, globalRows }: LetterSubscription,
  opening: string,
  blocks: readonly Block[],
): readonly Block[] {
  const cap = globalRows === null ? [] : [say.overAll(say.rowsAMonth(globalRows))]
  const items = [...grants.map((grant) => grantText(say, grant)), ...cap]
  const signature = `${say.signature(subscriptionId)} ${say.automatic}`
  return [text(opening), { kind: 'list', items }, ...blocks, text(signature)]
}

function openingOf(say: LetterWords, { expiresAt }: LetterSubscription, opening: string): string {
  return `${opening} ${say.access(expiresAt)}`
}

function nameOf(say: LetterWords, { grants }: LetterSubscription): string {
  const [first] = grants
  return grants.length === 1 && first
    ? say.oneDataset(shortTitle(first.title))
    : say.datasets(grants.length)
}

function grantText(say: LetterWords, { title, dataset, plan, offer }: LetterGrant): string {
  if (plan === '') return say.removed(title, dataset)
  const name = say.plan(title, dataset, plan)
  if (offer === null) return name
  return `${name}: ${say.rowsAMonth(offer.rowsPerMonth)}, ${say.history(offer.history)}`
}

function receiptBlock(say: LetterWords, { orderId, months, amountRub }: Receipt): Block {
  return text(say.receipt(orderId, months, amountRub))
}

function tokenBlocks(
  say: LetterWords,
  { token, base }: Pick<LetterFacts['new-token'], 'token' | 'base'>,
): readonly Block[] {
  const { yours, use, mcp, signIn, keep } = say.token
  const header = `Authorization: Bearer ${token}`
  return [
    text(yours),
    code(token),
    ...portalBlocks(say, base),
    text(use),
    code(`curl -H '${header}' '${base.replaceAll("'", '%27')}/v1/'`),
    text(mcp),
    code(`${base}/mcp/`),
    ...(takesSignIn(base) ? [text(signIn)] : []),
    text(keep),
  ]
}

/** Where the data is in a browser, if people can sign in at this address. */
function portalBlocks(say: LetterWords, base: string): readonly Block[] {
  return sessionCookieAt(base) ? [text(say.portal), code(`${base}/sign-in?next=/`)] : []
}

/** Who gets access; `computer` and `device` say where an app is. */
function receiverText(
  say: LetterWords,
  target: RedirectTarget,
  { computer, device }: { readonly computer: string; readonly device: string },
): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return say.appOn(computer)
    case 'app':
      return say.appOf(target.scheme, device)
  }
}

function codeLetter(
  say: LetterWords,
  site: string,
  opening: string,
  typed: string,
  notes: readonly string[],
): LetterText {
  const blocks = [text(opening), code(typed), text(say.code.use), ...notes.map(text)]
  return { subject: say.code.subject(site), blocks: [...blocks, text(say.automatic)] }
}

function orderLetter(
  say: LetterWords,
  { subject, opening }: LetterWords['orderReceived'],
  order: LetterOrder,
  blocks: readonly Block[],
): LetterText {
  const { orderId } = order
  return { subject: subject(orderId), blocks: orderBlocks(say, opening(orderId), order, blocks) }
}

function orderBlocks(
  say: LetterWords,
  opening: string,
  { kind, items, buyer, months, amountRub, payUntil }: LetterOrder,
  blocks: readonly Block[],
): readonly Block[] {
  const terms = [
    ...items.map(({ title, dataset, plan }) => say.plan(title, dataset, plan)),
    ...(buyer === null ? [] : [say.terms.company(buyer.name, buyer.inn)]),
    ...(kind === 'change' ? [say.terms.change(months !== null)] : []),
    ...(kind === 'change' || months === null ? [] : [say.terms.time(months)]),
    say.terms.amount(amountRub),
    say.terms.payBy(payUntil),
  ]
  return [text(opening), { kind: 'list', items: terms }, ...blocks, text(say.automatic)]
}
