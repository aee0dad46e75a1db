import t from 'tap'
import {
  addMonths,
  createSubscription,
  listSubscriptions,
  showSubscription,
  subscriptionsEnding,
} from '../../src/control/subscriptions.js'
import { sql, sqlText } from '../../src/control/store/sql.js'
import { quoted } from '../../src/text.js'
import { clockAt, noon, openAnyStore, subscribe } from './fixtures/store.js'

const order = {
  email: 'buyer@example.com',
  grants: [{ dataset: 'financials', plan: 'start' }],
  months: 1,
  globalRows: null,
  priceRub: 990,
  language: 'en' as const,
  now: clockAt(noon),
}

await t.test(
  'a subscription is created with its subscriber, its grants and its first token',
  async (t) => {
    const store = openAnyStore(t)
    const grants = [
      { dataset: 'procurement', plan: 'free' },
      { dataset: 'financials', plan: 'pro' },
    ]
    const made = await createSubscription(store, { ...order, grants, months: 12, globalRows: 1000 })
    t.match(made.subscriptionId, /^sub_[0-9A-Za-z]{16}$/)
    t.match(made.tokenId, /^tok_[0-9A-Za-z]{16}$/)
    t.match(made.token, /^das_live_/)
    t.equal(made.expiresAt, Date.UTC(2027, 5, 15, 12))
    t.same(made.grants, grants)
    t.same(await showSubscription(store, made.subscriptionId), {
      subscriptionId: made.subscriptionId,
      email: order.email,
      createdAt: noon,
      expiresAt: made.expiresAt,
      cancelledAt: null,
      anchorDay: 15,
      language: 'en',
      globalRows: 1000,
      grants: [grants[1], grants[0]],
    })
  },
)

await t.test(
  "a subscriber's second order has the same subscriber, whatever the case of the e-mail",
  async (t) => {
    const store = openAnyStore(t)
    await subscribe(store, { email: 'Buyer@Example.com' })
    const second = await subscribe(store, { email: 'buyer@example.COM' })
    t.equal((await showSubscription(store, second.subscriptionId)).email, 'Buyer@Example.com')
    t.equal((await store.all(sql`SELECT * FROM subscribers`)).length, 1)
  },
)

await t.test('the list has every subscription, oldest first, with its own grants', async (t) => {
  const store = openAnyStore(t)
  t.same(await listSubscriptions(store), [])
  const later = await subscribe(store, { now: clockAt(noon + 1) })
  const earlier = await subscribe(store, {
    email: 'other@example.com',
    grants: [
      { dataset: 'b', plan: 'free' },
      { dataset: 'a', plan: 'pro' },
    ],
  })
  const bare = await subscribe(store, { now: clockAt(noon + 2) })
  await store.run(sql`DELETE FROM grants WHERE subscription_id = ${bare.subscriptionId}`)

  const list = await listSubscriptions(store)
  t.match(list, [
    {
      subscriptionId: earlier.subscriptionId,
      email: 'other@example.com',
      grants: [
        { dataset: 'a', plan: 'pro' },
        { dataset: 'b', plan: 'free' },
      ],
    },
    { subscriptionId: later.subscriptionId, grants: [{ dataset: 'financials', plan: 'start' }] },
    { subscriptionId: bare.subscriptionId },
  ])
  t.same(list[2]?.grants, [])
  t.ok(list.every((subscription) => Object.isFrozen(subscription)))
})

await t.test('an unknown subscription is not found', async (t) => {
  const store = openAnyStore(t)
  await subscribe(store)
  await t.rejects(() => showSubscription(store, 'sub_none'), {
    code: 'not_found',
    detail: "There is no subscription 'sub_none'.",
  })
})

await t.test(
  'an order with a mistake is refused with what to correct, and stores nothing',
  async (t) => {
    const store = openAnyStore(t)
    const twice = [...order.grants, { dataset: 'financials', plan: 'pro' }]
    const many = Array.from({ length: 1001 }, (_, n) => ({ dataset: `d${n}`, plan: 'free' }))
    const mistakes = [
      [{ months: 0 }, 'The months must be a whole number from 1 to 120, got 0.'],
      [{ months: 121 }, 'The months must be a whole number from 1 to 120, got 121.'],
      [{ months: 1.5 }, 'The months must be a whole number from 1 to 120, got 1.5.'],
      [{ months: NaN }, 'The months must be a whole number from 1 to 120, got NaN.'],
      [
        { globalRows: 0 },
        /^The rows a month over all datasets must be a whole number, 1 or more, got 0/,
      ],
      [{ globalRows: -5 }, /^The rows a month over all/],
      [{ globalRows: 2 ** 53 }, /^The rows a month over all/],
      [{ grants: [] }, 'Name at least one dataset with its plan.'],
      [{ grants: twice }, "Name the dataset 'financials' only once."],
      [{ grants: many }, 'Name at most 1000 datasets.'],
    ] as const
    for (const [mistake, detail] of mistakes) {
      await t.rejects(() => createSubscription(store, { ...order, ...mistake }), {
        code: 'bad_request',
        detail,
      })
    }
    for (const table of ['subscribers', 'subscriptions', 'grants', 'tokens']) {
      t.same(await store.all(sql`SELECT * FROM ${sqlText(table)}`), [], table)
    }
  },
)

await t.test('an address that is not one plain address is refused', async (t) => {
  const store = openAnyStore(t)
  const local = 'a'.repeat(242)
  const wrong = ['', 'a', '@', 'a@', '@b', 'a@b@c', 'a b@c', ' a@b', 'a@b\n', 'a@b\r\nBcc: c@d']
  const risky = ['a,b@c', 'a@b,c', 'a<b@c>', '"a"@b', 'a;@b', 'a:b@c', 'a\0@b', 'a\\@b', 'a@[b]']
  for (const email of [...wrong, ...risky, `${local}@example.com!`]) {
    await t.rejects(() => createSubscription(store, { ...order, email }), {
      code: 'bad_request',
      detail: `${quoted(email)} is not one plain e-mail address of at most 254 characters.`,
    })
  }
  const good = ['a@b', `${local}@example.com`, "o'neil+das@example.co.uk", 'почта@пример.рф']
  for (const email of good) {
    t.equal(
      (await showSubscription(store, (await subscribe(store, { email })).subscriptionId)).email,
      email,
      JSON.stringify(email.slice(0, 40)),
    )
  }
})

await t.test('a month is a calendar month in UTC, its day clamped to the last', async (t) => {
  const cases = [
    ['2026-01-31T23:59:59.999Z', 1, '2026-02-28T23:59:59.999Z'],
    ['2028-01-31T10:00:00.000Z', 1, '2028-02-29T10:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', 12, '2029-02-28T00:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', 48, '2032-02-29T00:00:00.000Z'],
    ['2026-03-31T00:00:00.000Z', 1, '2026-04-30T00:00:00.000Z'],
    ['2026-12-31T00:00:00.000Z', 2, '2027-02-28T00:00:00.000Z'],
    ['2026-06-15T12:00:00.000Z', 1, '2026-07-15T12:00:00.000Z'],
    ['2026-12-15T12:00:00.000Z', 1, '2027-01-15T12:00:00.000Z'],
    ['2026-08-31T00:00:00.000Z', 120, '2036-08-31T00:00:00.000Z'],
    ['2100-01-31T00:00:00.000Z', 1, '2100-02-28T00:00:00.000Z'],
  ] as const
  for (const [from, months, to] of cases) {
    t.equal(new Date(addMonths(Date.parse(from), months)).toISOString(), to, `${from} + ${months}`)
  }
})

// More than are read at once.
await t.test('each of many subscriptions is listed once, the oldest first', async (t) => {
  const store = openAnyStore(t)
  const made: string[] = []
  await store.write(async (tx) => {
    for (let at = 0; at < 501; at++) {
      made.push((await subscribe(tx, { now: () => noon + at })).subscriptionId)
    }
  })
  const listed = await listSubscriptions(store)
  t.same(
    listed.map(({ subscriptionId }) => subscriptionId),
    made,
  )
  const ending = await subscriptionsEnding(store, { now: noon, by: noon + 400 * 86_400_000 })
  t.same(ending, listed)
})
