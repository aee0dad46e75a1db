import t from 'tap'
import { ordersOfSubscription } from '../../src/control/orders.js'
import {
  cancelSubscription,
  changeSubscription,
  extendSubscription,
} from '../../src/control/subscription-changes.js'
import { showSubscription } from '../../src/control/subscriptions.js'
import { chargeAll, readUsage } from '../../src/control/usage.js'
import { clockAt, noon, openAnyStore, subscribe } from './fixtures/store.js'

const dayMs = 24 * 3_600_000
const at = (text: string) => Date.parse(`${text}T12:00:00Z`)
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const free = { priceRub: () => 0 }

await t.test('an extension of a live subscription is added to its end', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store, { months: 1 })
  const now = clockAt(noon + 10 * dayMs)
  const after = await extendSubscription(store, subscriptionId, {
    months: 12,
    priceRub: (grants) => grants.length * 9900,
    now,
  })
  t.equal(dayOf(after.expiresAt), '2027-07-15')
  t.equal(after.priceRub, 9900)
  t.same((await showSubscription(store, subscriptionId)).expiresAt, after.expiresAt)
})

await t.test(
  'an expired subscription is live again from now, also at the instant of its end',
  async (t) => {
    const store = openAnyStore(t)
    const { subscriptionId, expiresAt } = await subscribe(store, { months: 1 })
    const atEnd = await extendSubscription(store, subscriptionId, {
      ...free,
      months: 1,
      now: clockAt(expiresAt),
    })
    t.equal(dayOf(atEnd.expiresAt), '2026-08-15')
    const late = await extendSubscription(store, subscriptionId, {
      ...free,
      months: 1,
      now: clockAt(at('2027-01-31')),
    })
    t.equal(dayOf(late.expiresAt), '2027-02-28')
  },
)

await t.test('months bought one by one end on the day of those bought together', async (t) => {
  const store = openAnyStore(t)
  const now = clockAt(at('2027-01-31'))
  const single = await subscribe(store, { months: 1, now })
  const ends = [dayOf(single.expiresAt)]
  for (let month = 0; month < 5; month += 1) {
    const { expiresAt } = await extendSubscription(store, single.subscriptionId, {
      ...free,
      months: 1,
      now,
    })
    ends.push(dayOf(expiresAt))
  }
  t.same(ends, ['2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31', '2027-06-30', '2027-07-31'])
  t.equal(dayOf((await subscribe(store, { months: 6, now })).expiresAt), '2027-07-31')
})

await t.test('an extension that is refused says why, and changes nothing', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, expiresAt } = await subscribe(store)
  const extension = { ...free, now: clockAt(noon) }
  for (const months of [0, -1, 1.5, 121, NaN]) {
    await t.rejects(() => extendSubscription(store, subscriptionId, { ...extension, months }), {
      code: 'bad_request',
      detail: `The months must be a whole number from 1 to 120, got ${months}.`,
    })
  }
  await t.rejects(() => extendSubscription(store, subscriptionId, { ...extension, months: 120 }), {
    code: 'bad_request',
    detail: 'A subscription ends at most 120 months ahead.',
  })
  await t.rejects(() => extendSubscription(store, 'sub_none', { ...extension, months: 1 }), {
    code: 'not_found',
  })
  const broken = {
    ...extension,
    months: 1,
    priceRub: () => {
      throw new Error('no such plan')
    },
  }
  await t.rejects(() => extendSubscription(store, subscriptionId, broken), {
    message: 'no such plan',
  })
  await cancelSubscription(store, subscriptionId, clockAt(noon))
  await t.rejects(() => extendSubscription(store, subscriptionId, { ...extension, months: 1 }), {
    code: 'bad_request',
    detail: `Subscription '${subscriptionId}' is cancelled. Create a new one.`,
  })
  t.equal((await showSubscription(store, subscriptionId)).expiresAt, expiresAt)
})

// Guarantee: a change of plan opens no quota anew.
await t.test('a change sets plans and datasets, and keeps the end and the usage', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, expiresAt } = await subscribe(store)
  const charge = { subscriptionId, dataset: 'financials', period: '2026-06', rows: 7 }
  await chargeAll(store, [{ ...charge, datasetRowsMax: null, globalRowsMax: null }])
  const now = clockAt(noon + dayMs)
  const after = await changeSubscription(store, subscriptionId, {
    grants: [
      { dataset: 'procurement', plan: 'pro' },
      { dataset: 'financials', plan: 'pro' },
    ],
    withdrawn: [],
    globalRows: 500,
    now,
  })
  t.match(after, { expiresAt, globalRows: 500 })
  t.same(after.grants, [
    { dataset: 'financials', plan: 'pro' },
    { dataset: 'procurement', plan: 'pro' },
  ])
  t.equal((await readUsage(store, subscriptionId, '2026-06')).total, 7)
  const less = await changeSubscription(store, subscriptionId, {
    grants: [],
    withdrawn: ['procurement'],
    now,
  })
  t.same(less.grants, [{ dataset: 'financials', plan: 'pro' }])
  t.equal(less.globalRows, 500, 'a cap that is not named stays')
  const uncapped = { grants: [], withdrawn: [], globalRows: null, now }
  t.equal((await changeSubscription(store, subscriptionId, uncapped)).globalRows, null)
})

await t.test('a change that is refused says why, and changes nothing', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  const grant = { dataset: 'financials', plan: 'pro' }
  const nothing = { grants: [], withdrawn: [], now: clockAt(noon) }
  const mistakes = [
    [{ withdrawn: ['procurement'] }, "The subscription has no dataset 'procurement' to withdraw."],
    [
      { withdrawn: ['financials'] },
      'The change would leave no dataset. To end the subscription, cancel it.',
    ],
    [{ grants: [grant, grant] }, "Name the dataset 'financials' only once."],
    [{ grants: [grant], withdrawn: ['financials'] }, "Name the dataset 'financials' only once."],
    [
      { globalRows: 0 },
      'The rows a month over all datasets must be a whole number, 1 or more, got 0.',
    ],
  ] as const
  for (const [mistake, detail] of mistakes) {
    await t.rejects(() => changeSubscription(store, subscriptionId, { ...nothing, ...mistake }), {
      code: 'bad_request',
      detail,
    })
  }
  t.same((await showSubscription(store, subscriptionId)).grants, [
    { dataset: 'financials', plan: 'start' },
  ])
  t.equal((await ordersOfSubscription(store, subscriptionId)).length, 1)
})

await t.test('cancelling is permanent, and a second time changes nothing', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId } = await subscribe(store)
  t.equal(
    (await cancelSubscription(store, subscriptionId, clockAt(noon + 1))).cancelledAt,
    noon + 1,
  )
  t.equal(
    (await cancelSubscription(store, subscriptionId, clockAt(noon + 2))).cancelledAt,
    noon + 1,
  )
  await t.rejects(() => cancelSubscription(store, 'sub_none', clockAt(noon)), { code: 'not_found' })
  await t.rejects(
    () =>
      changeSubscription(store, subscriptionId, {
        grants: [{ dataset: 'financials', plan: 'pro' }],
        withdrawn: [],
        now: clockAt(noon),
      }),
    { code: 'bad_request', detail: /is cancelled\. Create/ },
  )
})

await t.test('every order is saved with the subscription after it', async (t) => {
  const store = openAnyStore(t)
  const { subscriptionId, expiresAt } = await subscribe(store, { months: 1, priceRub: 990 })
  const now = clockAt(noon + dayMs)
  await changeSubscription(store, subscriptionId, {
    grants: [{ dataset: 'financials', plan: 'pro' }],
    withdrawn: [],
    globalRows: 10,
    now,
  })
  const extended = await extendSubscription(store, subscriptionId, {
    months: 1,
    priceRub: () => 3900,
    now,
  })
  await cancelSubscription(store, subscriptionId, now)
  const start = [{ dataset: 'financials', plan: 'start' }]
  const pro = [{ dataset: 'financials', plan: 'pro' }]
  const later = { orderedAt: noon + dayMs, byOwner: true, state: 'confirmed' }
  t.match(await ordersOfSubscription(store, subscriptionId), [
    {
      orderedAt: noon,
      kind: 'new',
      months: 1,
      amountRub: 990,
      effect: { entry: 1, grants: start, globalRows: null, expiresAt },
    },
    {
      ...later,
      kind: 'change',
      months: null,
      amountRub: 0,
      effect: { entry: 2, grants: pro, globalRows: 10, expiresAt },
    },
    {
      ...later,
      kind: 'renew',
      months: 1,
      amountRub: 3900,
      effect: { entry: 3, grants: pro, globalRows: 10, expiresAt: extended.expiresAt },
    },
  ])
})
