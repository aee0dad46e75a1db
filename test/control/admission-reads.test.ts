import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { keptReads, readsOf } from '../../src/control/admission-reads.js'
import { ChargeStore } from '../../src/control/charge-store.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { hashToken } from '../../src/control/tokens/token-format.js'
import { issueToken, revokeToken } from '../../src/control/tokens/tokens.js'
import { chargeAll } from '../../src/control/usage.js'
import { clockAt, noon, openStore, storePath, subscribe } from './fixtures/store.js'
import { machine } from '../support/machine.js'

// Guarantee: a request is admitted by what the store holds now, whoever wrote it.

const period = '2026-06'

/** A server's reads of a store, and another process that writes to it. */
async function openReads(t: Test) {
  const path = storePath(t)
  const control = openStore(t, path)
  const charges = ChargeStore.open(path, { ...machine, turns: control.turns, busyTimeoutMs: 1000 })
  const other = SqliteStore.open(path, machine)
  t.teardown(async () => {
    await other.close()
    await charges.close()
  })
  const sold = await subscribe(control)
  const { subscriptionId } = sold
  const charge = { subscriptionId, dataset: 'financials', period, rows: 7 }
  const caps = { datasetRowsMax: null, globalRowsMax: null }
  return {
    ...{ path, control, charges, other, sold, hash: hashToken(sold.token) },
    reads: keptReads(control, charges),
    charge: (...periods: string[]) =>
      charges.chargeAll([period, ...periods].map((each) => ({ ...charge, ...caps, period: each }))),
    chargeElsewhere: () => chargeAll(other, [{ ...charge, ...caps }]),
  }
}

await t.test('what was read is kept while nobody writes', async (t) => {
  const { reads, hash, sold } = await openReads(t)
  const [token, usage] = [await reads.token(hash), await reads.usage(sold.subscriptionId, period)]
  t.match(token, { tokenId: sold.tokenId })
  t.equal(await reads.token(hash), token, 'the same record')
  t.equal(await reads.usage(sold.subscriptionId, period), usage)
})

await t.test('a token is refused from the next read after its revocation on', async (t) => {
  const { reads, other, control, sold } = await openReads(t)
  const { subscriptionId } = sold
  for (let count = 0; count < 100; count += 1) {
    const writer = count % 2 === 0 ? other : control
    const { tokenId, token } = await issueToken(writer, subscriptionId, { now: clockAt(noon) })
    const hash = hashToken(token)
    const before = await reads.token(hash)
    await revokeToken(writer, tokenId, clockAt(noon))
    const after = await reads.token(hash)
    if (before?.revokedAt !== null || after?.revokedAt !== noon) t.fail(`${count}: ${tokenId}`)
  }
  t.equal(await reads.token(Buffer.alloc(32)), undefined, 'a token that nobody issued')
})

await t.test('charges of this and of another process count at once', async (t) => {
  const { reads, charge, chargeElsewhere, sold } = await openReads(t)
  const used = async () => (await reads.usage(sold.subscriptionId, period)).total
  t.equal(await used(), 0)
  await charge()
  t.equal(await used(), 7)
  await chargeElsewhere()
  t.equal(await used(), 14)
  await charge()
  t.equal(await used(), 21)
})

await t.test('after a charge of this process its usage is known without a read', async (t) => {
  const { reads, charge, control, sold } = await openReads(t)
  await reads.usage(sold.subscriptionId, period)
  await charge()
  const running = control.turns.transact(async () => {
    t.match(await reads.usage(sold.subscriptionId, period), { total: 7 }, 'though reads wait')
  })
  await running
})

await t.test('another file in its place is read anew', async (t) => {
  const { reads, control, charges, other, hash, sold } = await openReads(t)
  t.match(await reads.token(hash), { revokedAt: null })
  await revokeToken(other, sold.tokenId, clockAt(noon))
  control.file.reopen()
  charges.reopen()
  t.match(await reads.token(hash), { revokedAt: noon })
  control.file.block()
  charges.block()
  await t.rejects(reads.token(hash), { code: 'service_unavailable' })
  await t.rejects(reads.usage(sold.subscriptionId, period), { code: 'service_unavailable' })
})

await t.test('what is written during a read is not kept wrong', async (t) => {
  const { reads, control, other, charge, chargeElsewhere, sold } = await openReads(t)
  const { subscriptionId } = sold
  const stored = readsOf(control)
  let current = { tokenId: sold.tokenId, token: sold.token }
  const steps = {
    token: () => reads.token(hashToken(current.token)),
    usage: () => reads.usage(subscriptionId, period),
    charge: () => charge(),
    'charge two months': () => charge('2026-07'),
    'charge elsewhere': chargeElsewhere,
    revoke: () => revokeToken(other, current.tokenId, clockAt(noon)),
    issue: async () => {
      current = await issueToken(control, subscriptionId, { now: clockAt(noon) })
    },
  }
  const names = Object.keys(steps) as (keyof typeof steps)[]
  const together = fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(together, async (chosen) => {
      await Promise.all(chosen.map((name) => steps[name]()))
      const hash = hashToken(current.token)
      t.strictSame(await reads.token(hash), await stored.token(hash))
      const usage = await reads.usage(subscriptionId, period)
      t.strictSame(usage, await stored.usage(subscriptionId, period))
    }),
    { numRuns: 100 },
  )
})
