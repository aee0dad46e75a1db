import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import t from 'tap'
import { paymentsOf } from '../../../src/control/payments.js'
import { placePaid, startShop } from '../../portal/fixtures/shop-world.js'
import { listen } from '../../support/answers.js'
import { pageAt } from '../../support/pages.js'

await t.test('the example of docs/shop.md reports a payment', async (t) => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const shop = await startShop(t, { settings: { paymentSecret: secret } })
  // The example signs with the time of the machine.
  shop.world.clock.ms = Date.now()
  const port = await listen(shop.world)
  const orderId = await placePaid(shop)
  const [, example = ''] = /```bash\n([^]*?)```/.exec(pageAt('docs/shop.md').text) ?? []
  const script = example
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replace('ord_0123456789abcdef', orderId)
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], {
    env: { ...process.env, DAS_PAYMENT_SECRET: secret },
  })
  t.equal(stdout, '204\n')
  t.match(await paymentsOf(shop.store, orderId), [{ amountRub: 990, outcome: 'confirmed' }])
})
