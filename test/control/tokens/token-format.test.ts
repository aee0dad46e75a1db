import { createHash } from 'node:crypto'
import t from 'tap'
import { base62 } from '../../../src/control/tokens/base62.js'
import { createToken, hashToken, parseToken } from '../../../src/control/tokens/token-format.js'
import { machineRandom } from '../../../src/random.js'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

await t.test(
  '5,000 tokens are all different, of one form, and parse to their own hash',
  async (t) => {
    const made = Array.from({ length: 5000 }, () => createToken(machineRandom))
    t.equal(new Set(made.map(({ token }) => token)).size, 5000)
    t.equal(new Set(made.map(({ hash }) => hash.toString('hex'))).size, 5000)
    t.ok(made.every(({ token }) => /^das_live_[0-9A-Za-z]{49}$/.test(token)))
    t.ok(
      made.every(({ token, hash }) => {
        const parsed = parseToken(token)
        return parsed?.kind === 'live' && parsed.hash.equals(hash)
      }),
    )
  },
)

await t.test('the hash is SHA-256 of the text, 32 bytes', async (t) => {
  const { token, hash } = createToken(machineRandom)
  t.equal(hash.length, 32)
  t.equal(hash.toString('hex'), createHash('sha256').update(token).digest('hex'))
  t.same(hashToken(token), hash)
})

await t.test('the hint shows the last 4 characters and no more', async (t) => {
  const { token, hint } = createToken(machineRandom)
  t.equal(hint, `das_live_…${token.slice(-4)}`)
  t.notOk(hint.includes(token.slice(-5)))
})

await t.test('a token with any one character wrong is refused', async (t) => {
  const { token } = createToken(machineRandom)
  for (let position = 0; position < token.length; position += 1) {
    for (const character of `${alphabet}_- `) {
      if (character === token[position]) continue
      const wrong = token.slice(0, position) + character + token.slice(position + 1)
      if (parseToken(wrong) !== undefined) t.fail(`${character} at ${position} passed`)
    }
  }
})

await t.test('a token too short, too long, or with something around it is refused', async (t) => {
  const { token } = createToken(machineRandom)
  for (const text of ['', 'das_live_', token.slice(0, -1), token.slice(1), `${token}0`]) {
    t.equal(parseToken(text), undefined, JSON.stringify(text))
  }
  for (const text of [`${token}\n`, ` ${token}`, `Bearer ${token}`, token.toUpperCase()]) {
    t.equal(parseToken(text), undefined, JSON.stringify(text.replace(token, '<token>')))
  }
  t.equal(parseToken('das_live_'.padEnd(10_000_000, 'x')), undefined, 'ten million characters')
})

await t.test(
  'the checksum is CRC-32 in base62, so that other scanners can verify it',
  async (t) => {
    // crc32('das_live_' + 43 zeros) = 0xb9de56e3 by zlib of Python 3.11.
    t.equal(parseToken(`das_live_${'0'.repeat(43)}${base62(0xb9de56e3n, 6)}`)?.kind, 'live')
    t.equal(base62(0n, 6), '000000')
    t.equal(base62(0xffffffffn, 6), '4gfFC3')
    t.equal(base62(2n ** 256n - 1n, 43).length, 43)
    t.equal(base62(2n ** 256n - 1n, 44), `0${base62(2n ** 256n - 1n, 43)}`, '43 digits hold it')
  },
)

await t.test('a demo token has no checksum and 4 to 64 letters and digits', async (t) => {
  const demo = 'das_demo_Try2026'
  t.same(parseToken(demo), { kind: 'demo', hash: hashToken(demo) })
  t.equal(parseToken(`das_demo_${'a'.repeat(64)}`)?.kind, 'demo')
  for (const tail of ['abc', 'a'.repeat(65), 'a-b-c', 'пять5', 'abcd\n', '']) {
    t.equal(parseToken(`das_demo_${tail}`), undefined, JSON.stringify(tail))
  }
})
