import { randomBytes } from 'node:crypto'
import t from 'tap'
import { openSecret, sealSecret } from '../../../src/sales/letters/seal.js'
import { machineRandom } from '../../../src/random.js'

const token = `das_live_${'Ab3'.repeat(16)}x`
const key = randomBytes(32)

// What lies in the outbox is worth nothing without the key, and nothing as another token.
await t.test('a sealed token is opened only with its key and its id', (t) => {
  const sealed = sealSecret(machineRandom, key, 'tok_a', token)
  t.equal(openSecret(key, 'tok_a', sealed), token)
  t.equal(openSecret(randomBytes(32), 'tok_a', sealed), undefined)
  t.equal(openSecret(key, 'tok_b', sealed), undefined)
  t.notOk(sealed.includes('das_live_'))
  t.end()
})

await t.test('a token sealed twice has two different texts', (t) => {
  t.not(
    sealSecret(machineRandom, key, 'tok_a', token).toString('hex'),
    sealSecret(machineRandom, key, 'tok_a', token).toString('hex'),
  )
  t.end()
})

await t.test('any damaged or missing byte is noticed', (t) => {
  const sealed = sealSecret(machineRandom, key, 'tok_a', token)
  for (let at = 0; at < sealed.length; at += 1) {
    const damaged = Buffer.from(sealed)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    t.equal(openSecret(key, 'tok_a', damaged), undefined)
    t.equal(openSecret(key, 'tok_a', sealed.subarray(0, at)), undefined)
  }
  t.end()
})
