import t from 'tap'
import { RegistryError, parseRegistry } from '../../src/registry/registry.js'
import { paymentText } from '../../src/registry/payment-text.js'

const datasets = 'datasets: {things: {title: Things, files: a.parquet}}\n'

function problemsOf(shop: string): readonly string[] {
  try {
    parseRegistry(`shop:\n${shop}${datasets}`, 'registry.yaml')
  } catch (cause) {
    if (cause instanceof RegistryError) return cause.problems
    throw cause
  }
  return []
}

await t.test('without shop: everything is off', (t) => {
  t.same(parseRegistry(datasets, 'registry.yaml').shop, {
    free: false,
    paid: false,
    terms: null,
    contact: null,
    payment: null,
  })
  t.end()
})

await t.test('a whole shop is accepted, its text in one language or two', (t) => {
  const lines =
    '  free: true\n  paid: true\n  contact: a@example.org\n  terms: https://a.example/t\n'
  t.same(problemsOf(`${lines}  payment: "{amount} for {order}"\n`), [])
  t.same(problemsOf(`${lines}  payment: {en: "{amount} {order}", ru: "{order} {amount}"}\n`), [])
  t.end()
})

await t.test('each mistake is named with line, column and correction', (t) => {
  const cases = [
    ['  fre: true\n', 'registry.yaml:2:3: shop.fre: unknown key. Did you mean "free"?'],
    ['  free: yes please\n', /^registry\.yaml:2:3: shop\.free: must be true or false, got/],
    ['  contact: nobody\n', /^registry\.yaml:2:3: shop\.contact: must be an e-mail address, got/],
    ['  terms: terms.html\n', /^registry\.yaml:2:3: shop\.terms: must be an https? /],
    ['  payment: "Pay {amount}"\n', /^registry\.yaml:2:3: shop\.payment: .* contain \{order\}\.$/],
    [
      '  payment: {en: "{order} {amount}", ru: "{order}"}\n',
      /shop\.payment\.ru: the text must contain \{amount\}\.$/,
    ],
    ['  payment: {en: "{order} {amount}"}\n', /shop\.payment/],
  ] as const
  for (const [shop, problem] of cases) {
    const found = problemsOf(shop)
    t.match(found.join('\n'), problem)
  }
  const missing = problemsOf('  paid: true\n').join('\n')
  t.match(missing, /^registry\.yaml:2:3: shop\.paid: needs the address .* add "contact: EMAIL"\.$/m)
  t.match(missing, /^registry\.yaml:2:3: shop\.paid: needs a text .* add "payment: TEXT"\.$/m)
  t.end()
})

await t.test('the text on how to pay has the number and the amount of the order', (t) => {
  const order = { orderId: 'ord_1', amountRub: 9900 }
  const both = { en: 'Pay {amount}, order {order} {else}', ru: '{order}: {amount} ₽' }
  t.equal(paymentText(both, 'en', order), 'Pay 9900, order ord_1 {else}')
  t.equal(paymentText(both, 'ru', order), 'ord_1: 9900 ₽')
  t.equal(paymentText('{order}', 'ru', order), 'ord_1')
  t.equal(paymentText(null, 'en', order), '')
  t.end()
})
