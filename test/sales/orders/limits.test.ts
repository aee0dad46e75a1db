import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { createSubscription } from '../../../src/control/subscriptions.js'
import { codesMax } from '../../../src/control/mailed-codes/code-limits.js'
import { parseRegistry } from '../../../src/registry/registry.js'
import { startLostToken, startReissue } from '../../../src/sales/orders/new-token.js'
import type { Shop } from '../../../src/sales/orders/shop.js'
import { CodeRefusal } from '../../../src/sales/form-refusal.js'
import { tidyShop } from '../../../src/sales/orders/tidy-shop.js'
import { noon, openAnyStore } from '../../control/fixtures/store.js'
import { sql, sqlText } from '../../../src/control/store/sql.js'
import { openShopText, shopRegistry } from '../../portal/fixtures/shop-world.js'

const hourMs = 3_600_000

function openTestShop(t: Test) {
  const store = openAnyStore(t)
  const clock = { ms: noon }
  const registry = parseRegistry(shopRegistry(openShopText), 'registry.yaml')
  const shop: Shop = {
    store,
    registry: () => registry,
    key: randomBytes(32),
    mailKey: randomBytes(32),
    now: () => clock.ms,
    isMailOn: true,
    sendLetters: () => undefined,
  }
  return { shop, store, clock }
}

/** What came of asking for a code. */
async function ask(shop: Shop, email: string, address: string): Promise<string> {
  try {
    await startLostToken(shop, { email, language: 'en', address })
    return 'sent'
  } catch (cause) {
    if (cause instanceof CodeRefusal) return cause.reason
    throw cause
  }
}

await t.test('an address gets five codes an hour, from all networks together', async (t) => {
  const { shop, clock } = openTestShop(t)
  for (let count = 1; count <= 5; count += 1) {
    t.equal(await ask(shop, 'a@example.org', `203.0.${count}.1`), 'sent')
  }
  t.equal(await ask(shop, 'A@Example.org', '198.51.100.1'), 'too-many-codes')
  t.equal(await ask(shop, 'b@example.org', '203.0.1.1'), 'sent')
  clock.ms += hourMs
  t.equal(await ask(shop, 'a@example.org', '203.0.1.1'), 'sent')
  t.end()
})

// A mail server gets the domain in its one plain form, whatever was typed.
for (const [plain, ...others] of [
  ['example.org', 'example。org', 'example．org', 'EXA\u00admple.org', 'ｅxample.org'],
  ['münchen.example', 'MÜNCHEN.example', 'mu\u0308nchen.example', 'xn--mnchen-3ya.example'],
]) {
  await t.test(`all spellings of ${plain} are one address`, async (t) => {
    const { shop, store } = openTestShop(t)
    for (let count = 0; count < 5; count += 1) {
      const email = `a@${others[count % others.length]}`
      t.equal(await ask(shop, email, `203.0.${count}.1`), 'sent', email)
    }
    t.same(await store.all(sql`SELECT DISTINCT email FROM email_codes`), [{ email: `a@${plain}` }])
    t.equal(await ask(shop, `a@${plain}`, '198.51.100.1'), 'too-many-codes')
  })
}

await t.test(
  'an invalid domain, or one that changes when it is normalized, gets no code',
  async (t) => {
    const { shop } = openTestShop(t)
    for (const domain of [
      'example.org.',
      '.example.org',
      'a..b',
      'exam\u200dple.org',
      'ж/b',
      'xn--a',
      'localhost',
      'LOCALHOST',
      'mail.localhost',
      'printer.local',
      'corp',
      'host.internal',
      'x.invalid',
      'hidden.onion',
      '127.0.0.1',
      '10.1',
    ]) {
      t.equal(await ask(shop, `a@${domain}`, '203.0.1.1'), 'email', domain)
    }
  },
)

// Guarantee: no address looks like another one, and no spelling of one escapes its limit.
await t.test('an address with an invisible character gets no code', async (t) => {
  const { shop } = openTestShop(t)
  for (const character of ['\u200b', '\u200e', '\u202e', '\u2066', '\u00ad', '\ufeff']) {
    const email = `a${character}b@example.org`
    t.equal(await ask(shop, email, '203.0.1.1'), 'email', JSON.stringify(email))
  }
})

await t.test('a network asks for twenty codes an hour: an IPv4 /24, an IPv6 /64', async (t) => {
  for (const [inside, outside] of [
    [(n: number) => `203.0.113.${n}`, '203.0.114.1'],
    [(n: number) => `::ffff:203.0.113.${n}`, '203.0.114.1'],
    [(n: number) => `2001:db8:0:1::${n}`, '2001:db8:0:2::1'],
  ] as const) {
    const { shop } = openTestShop(t)
    for (let count = 1; count <= 20; count += 1) {
      t.equal(await ask(shop, `a${count}@example.org`, inside(count)), 'sent')
    }
    t.equal(await ask(shop, 'b@example.org', inside(99)), 'too-many-codes')
    t.equal(await ask(shop, 'b@example.org', outside), 'sent')
  }
  t.end()
})

// Guarantee: who has many networks of one provider does not take the codes of all visitors.
await t.test('wider networks have limits too: IPv6 /56 and /48, IPv4 /16', async (t) => {
  const hex = (n: number) => n.toString(16)
  for (const [inside, max, outside] of [
    [(n: number) => `2001:db8:1:ab${hex(n % 4)}::${hex(n)}`, 60, '2001:db8:1:ac00::1'],
    [(n: number) => `2001:db8:2:${hex(n * 256)}::1`, 200, '2001:db8:3::1'],
    [(n: number) => `203.0.${n % 11}.${n}`, 200, '203.1.0.1'],
  ] as const) {
    const { shop } = openTestShop(t)
    const outcomes: string[] = []
    for (let count = 0; count <= max; count += 1) {
      outcomes.push(await ask(shop, `a${count}@example.org`, inside(count)))
    }
    t.same(new Set(outcomes.slice(0, max)), new Set(['sent']), outside)
    t.equal(outcomes[max], 'too-many-codes', outside)
    t.equal(await ask(shop, 'b@example.org', outside), 'sent')
  }
})

// Guarantee: strangers who know an address can't keep the holder of its token from a new one.
await t.test('the holder of a token has codes of his own', async (t) => {
  const { shop, store, clock } = openTestShop(t)
  const { subscriptionId } = await createSubscription(store, {
    ...{ email: 'a@example.org', grants: [{ dataset: 'things', plan: 'start' }], months: 1 },
    ...{ globalRows: null, priceRub: 990, language: 'en', now: () => clock.ms },
  })
  const outcomeOf = async (work: Promise<unknown>) =>
    await work.then(
      () => 'sent',
      (cause: unknown) => (cause instanceof CodeRefusal ? cause.reason : 'failed'),
    )
  for (let count = 0; count < 5; count += 1) await ask(shop, 'a@example.org', '203.0.113.1')
  t.equal(await ask(shop, 'a@example.org', '203.0.113.1'), 'too-many-codes')
  for (let count = 0; count < 5; count += 1) {
    t.equal(await outcomeOf(startReissue(shop, subscriptionId, '203.0.113.1')), 'sent')
  }
  t.equal(await outcomeOf(startReissue(shop, subscriptionId, '203.0.113.1')), 'too-many-codes')
  t.equal(await ask(shop, 'b@example.org', '203.0.113.1'), 'sent', 'they count for nobody else')
})

// A clock that ran ahead is set back.
await t.test('codes of a clock that ran ahead do not block new ones', async (t) => {
  const { shop, store, clock } = openTestShop(t)
  clock.ms += 30 * 24 * hourMs
  for (let count = 0; count < 5; count += 1) await ask(shop, 'a@example.org', '203.0.113.1')
  t.equal(await ask(shop, 'a@example.org', '203.0.113.1'), 'too-many-codes')
  clock.ms = noon
  t.equal(await ask(shop, 'a@example.org', '203.0.113.1'), 'sent')
  await tidyShop({ store, now: () => clock.ms })
  t.equal((await store.all(sql`SELECT 1 FROM email_codes`)).length, 1)
})

// Guarantee: what visitors do without a verified address is bounded, whoever they are, and is gone
// after an hour. The bound holds for 100,000 forms as for these.
await t.test('a flood of forms from everywhere leaves control.db as it was', async (t) => {
  const { shop, store, clock } = openTestShop(t)
  const rows = async (table: string) =>
    (await store.all(sql`SELECT 1 FROM ${sqlText(table)}`)).length
  const pages = () => Number(store.file?.db.pragma('page_count', { simple: true }) ?? 0)
  const flood = async (round: number) => {
    const outcomes = new Map<string, number>()
    for (let count = 0; count < codesMax + 200; count += 1) {
      const address = `${10 + (count >> 7)}.0.${count & 127}.1`
      const outcome = await ask(shop, `a${count}@${round}.example.org`, address)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    return Object.fromEntries(outcomes)
  }
  const bounded = { sent: codesMax, 'too-many-codes': 200 }
  t.same(await flood(1), bounded)
  t.equal(await rows('email_codes'), codesMax)
  t.equal(await rows('letters'), codesMax)
  const full = pages()
  clock.ms += hourMs
  await tidyShop({ store, now: () => clock.ms })
  t.equal(await rows('email_codes'), 0)
  t.equal(await rows('letters'), 0)
  t.equal(await rows('audit'), 0)
  t.same(await flood(2), bounded)
  t.ok(pages() <= full * 1.05, 'the space is used again')
  t.end()
})
