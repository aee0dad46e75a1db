import { createHmac } from 'node:crypto'
import t from 'tap'
import { isSignature, signatureOf } from '../src/signature.js'

const key = Buffer.alloc(32, 1)

await t.test('a signature is the HMAC-SHA256 of its parts together', (t) => {
  const expected = createHmac('sha256', key).update('one\0two').digest()
  t.same(signatureOf(key, 'one\0', Buffer.from('two')), expected)
  t.same(signatureOf(key, 'one\0two', ''), expected)
  t.end()
})

await t.test('only the whole signature is accepted', (t) => {
  const expected = signatureOf(key, 'text')
  t.ok(isSignature(signatureOf(key, 'text'), expected))
  t.notOk(isSignature(signatureOf(key, 'other'), expected))
  t.notOk(isSignature(expected.subarray(1), expected), 'a shorter one is refused, not an error')
  t.notOk(isSignature(Buffer.alloc(0), expected))
  t.end()
})
