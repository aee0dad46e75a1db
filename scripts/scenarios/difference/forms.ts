import { join } from 'node:path'
import { createSubscription } from '../../../src/control/subscriptions.js'
import { orderLifeMs } from '../../../src/control/order-limits.js'
import { makeOrderLink } from '../../../src/control/order-links.js'
import { insertOrder } from '../../../src/control/orders.js'
import { keepPaper } from '../../../src/control/receipts.js'
import { removeCodes } from '../../../src/control/mailed-codes/email-codes.js'
import { makeSession } from '../../../src/control/sessions/sessions.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { createSecret } from '../../../src/control/tokens/token-format.js'
import { machine } from '../../../test/support/machine.js'
import type { Fixture } from '../../harness/fixture.js'
import { send, sendWell } from '../../harness/http.js'
import type { Reply, Target } from '../../harness/http.js'
import { formMessage, networkOf } from '../parts/visitors.js'
import { names } from './doors.js'

/** A way to ask for something that the client may not know of. */
export interface Way {
  readonly name: string
  /** What is asked for. The first one does not exist, and the others must look like it. */
  readonly subjects: readonly string[]
  readonly ask: (subject: string) => Promise<Asked>
}

interface Asked {
  readonly reply: Reply
  /** What only this request has in its answer, such as the name that it asked for. */
  readonly own: readonly string[]
}

/** Addresses and companies of one length, so that it tells nothing. Who has ordered is called known. */
const people = {
  unknown: { address: 'stray', inn: '7736050003', company: 'Stray Ltd' },
  known: { address: 'buyer', inn: '7707083893', company: 'Buyer Ltd' },
  unknownToo: { address: 'other', inn: '7736207543', company: 'Other Ltd' },
} as const
type Person = keyof typeof people
const persons = ['unknown', 'known', 'unknownToo'] as const
/** Addresses of each kind: as many as a portal can have owners. */
const addressCount = 20

/** What makes the known addresses those of subscribers, buyers and owners. */
export const shopOfKnown = {
  shop: { free: true, paid: true, contact: 'owner@example.org', payment: '{order} {amount}' },
  portal: {
    owners: Array.from({ length: addressCount }, (_, at) => emailOf('known', at)),
    legal: { name: 'Seller', inn: '7708004767', address: 'Moscow', vat: 20 },
  },
} as const

function emailOf(person: Person, at: number): string {
  return `${people[person].address}-${String(at % addressCount).padStart(3, '0')}@example.org`
}

function buyerOf(person: Person) {
  const { inn, company: name } = people[person]
  return { name, inn, kpp: '770701001', address: 'Moscow' }
}

/** The store of the server. The caller closes it. */
export function openStore({ folder }: Fixture): SqliteStore {
  return SqliteStore.open(join(folder, 'state', 'control.db'), machine)
}

/** Sells a subscription to every known address. */
export async function sellToKnown(store: SqliteStore): Promise<void> {
  for (let at = 0; at < addressCount; at++) {
    await createSubscription(store, {
      email: emailOf('known', at),
      grants: [{ dataset: names.granted, plan: 'all' }],
      months: 12,
      globalRows: null,
      priceRub: 0,
      language: 'en',
      now: () => Date.now(),
    })
  }
}

/** Every form that takes an address, a plan, a code, a number of an order or the secret of a letter. */
export async function formWays(store: SqliteStore, own: Target): Promise<readonly Way[]> {
  const target = { ...own, token: '' }
  const asking = ['/sign-in', '/owner/sign-in', '/lost-token', '/order'] as const
  return [
    ...asking.flatMap((path) => codeWays(store, target, path)),
    await linkWay(store, target),
    ...(await paperWays(store, target)),
    changeWay(own),
  ]
}

/** Asking for a code, and typing a wrong one on its page. */
function codeWays(store: SqliteStore, target: Target, path: string): readonly Way[] {
  let requests = 0
  // Each request comes from a network of its own, and the codes are removed, as after an hour,
  // before an address meets its limit.
  const ask = async (person: Person) => {
    const round = Math.floor(requests / persons.length)
    if (requests % (addressCount * persons.length) === 0) {
      await store.write((tx) => removeCodes(tx, { until: Date.now(), ahead: Infinity }))
    }
    const [email, buyer] = [emailOf(person, round), buyerOf(person)]
    const company = Object.entries(buyer).map(([name, value]) => [`buyer-${name}`, value])
    const order = { plan: `${names.granted}:all`, months: '1', ...Object.fromEntries(company) }
    const fields = { email, ...(path === '/order' ? order : { next: '/' }) }
    const reply = await sendWell(target, formMessage(`${path}?lang=en`, fields, requests++))
    const id = /name="id" value="([^"]+)"/.exec(reply.text)?.[1] ?? ''
    return { reply, id, own: [email, id, ...Object.values(buyer)] }
  }
  const way = (name: string, askFor: (person: Person) => ReturnType<Way['ask']>): Way => ({
    name,
    subjects: persons,
    ask: (subject) => askFor(subject as Person),
  })
  return [
    way(path, ask),
    way(`${path}/code, wrong`, async (person) => {
      const { id, own } = await ask(person)
      const typed = formMessage(`${path}/code?lang=en`, { id, code: '00000000' }, requests)
      return { reply: await send(target, typed), own }
    }),
  ]
}

/** The link of a letter about an order: unknown, and one whose time is over. */
async function linkWay(store: SqliteStore, target: Target): Promise<Way> {
  const unknown = () => createSecret(machine.random, 'order').secret
  const over = await known(store, Date.now() - orderLifeMs - 1)
  const secrets = { unknown: unknown(), over: over.secret, unknownToo: unknown() }
  let requests = 0
  return {
    name: 'link of a letter',
    subjects: Object.keys(secrets),
    ask: async (subject) => {
      const secret = secrets[subject as keyof typeof secrets]
      const message = formMessage('/owner/order?lang=en', { secret, action: 'show' }, requests++)
      return { reply: await send(target, message), own: [secret] }
    },
  }
}

/** An invoice, asked for by a stranger who signed in, and without a session. */
async function paperWays(store: SqliteStore, target: Target): Promise<readonly Way[]> {
  const secret = await makeSession(store, { email: emailOf('unknown', 0), now: Date.now() })
  const { orderId } = await known(store)
  const ids = {
    unknown: 'ord_0123456789abcdef',
    known: orderId,
    unknownToo: 'ord_fedcba9876543210',
  }
  let requests = 0
  const way = (name: string, cookie: Readonly<Record<string, string>>): Way => ({
    name,
    subjects: persons,
    ask: async (subject) => {
      const id = ids[subject as Person]
      const headers = { accept: 'text/html', ...networkOf(requests++), ...cookie }
      const path = `/account/orders/${id}?lang=en`
      return { reply: await send(target, { method: 'GET', path, body: '', headers }), own: [id] }
    },
  })
  return [way('invoice', {}), way('invoice, signed in', { cookie: `das=${secret}` })]
}

/** A change of plan to a dataset that is not listed. Subscribers can add the others. */
function changeWay(target: Target): Way {
  return {
    name: 'change of plan',
    subjects: ['unknown', 'unlisted', 'unknownToo'],
    ask: async (subject) => {
      const dataset = names[subject as keyof typeof names]
      const body = JSON.stringify({ kind: 'change', plans: [{ dataset, plan: 'all' }] })
      const message = { method: 'POST', path: '/account/quotes?lang=en', body } as const
      return { reply: await send(target, message), own: [dataset] }
    },
  }
}

/** A known company's order that waits, with its invoice, and the secret of its letter. */
async function known(store: SqliteStore, now = Date.now()) {
  const { orderId, amountRub } = await insertOrder(store, {
    ...{ kind: 'new', email: emailOf('known', 0), language: 'en', subscriptionId: null },
    ...{ items: [{ dataset: names.granted, plan: 'all' }], months: 1, amountRub: 990 },
    ...{ basedOn: null, buyer: buyerOf('known'), orderedAt: now, payUntil: now + 1e9 },
  })
  await keepPaper(
    store,
    orderId,
    '{"kind":"invoice","title":"","parties":[],"headings":[],"lines":[],"notes":[]}',
  )
  return { orderId, secret: await makeOrderLink(store, { orderId, amountRub }, now) }
}
