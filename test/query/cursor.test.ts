import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { cursorVersion, readCursor, writeCursor } from '../../src/query/cursor.js'
import type { CursorScope } from '../../src/query/cursor.js'
import type { FilePosition } from '../../src/query/question.js'

const key = Buffer.from('0123456789abcdef0123456789abcdef')
const scope: CursorScope = {
  dataset: 'things',
  version: '0123456789abcdef',
  principal: 'sub_1',
  filters: '["inn","eq","string:5"]',
}
const position = { file: 41, row: 123_456_789 }

const invalid = {
  code: 'bad_request',
  detail:
    'The cursor is not valid for this request. Repeat the request that gave it with the same ' +
    'filters, or start again without a cursor.',
}

const anyPosition = fc.record({
  file: fc.nat(2 ** 31 - 1).map((file) => file * 2),
  row: fc.maxSafeNat().map((row) => row % 2 ** 48),
})

await t.test('a cursor names its position, in any file and any row', (t) => {
  fc.assert(
    fc.property(anyPosition, (position) => {
      const found = readCursor(key, scope, writeCursor(key, scope, position))
      return 'file' in found && found.file === position.file && found.row === position.row
    }),
  )
  const last = { file: 2 ** 32 - 1, row: 2 ** 48 - 1 }
  t.same(readCursor(key, scope, writeCursor(key, scope, last)), last)
  t.match(writeCursor(key, scope, position), /^[A-Za-z0-9_-]{47}$/, 'safe in a URL')
  t.end()
})

// Guarantee: a cursor does not reveal the rows between a caller's own.
await t.test('a cursor does not reveal its position', (t) => {
  const sealed = (position: FilePosition, of: CursorScope = scope) =>
    Buffer.from(writeCursor(key, of, position), 'base64url').subarray(9, 19)
  fc.assert(
    fc.property(anyPosition, (position) => {
      const plain = Buffer.alloc(10)
      plain.writeUInt32BE(position.file, 0)
      plain.writeUIntBE(position.row, 4, 6)
      return !sealed(position).equals(plain)
    }),
  )
  const bits = (left: Buffer, right: Buffer) =>
    [...left].reduce((sum, byte, at) => {
      const changed = (byte ^ (right[at] ?? 0)).toString(2).replaceAll('0', '')
      return sum + changed.length
    }, 0)
  // The next row, the next file, the same row of another walk: about half of the 80 bits differ.
  const rows = Array.from({ length: 1000 }, (_, row) => row)
  const mean = (other: (row: number) => Buffer) =>
    rows.reduce((sum, row) => sum + bits(sealed({ file: 0, row }), other(row)), 0) / rows.length
  for (const [name, other] of Object.entries({
    row: (row: number) => sealed({ file: 0, row: row + 1 }),
    file: (row: number) => sealed({ file: 1, row }),
    filters: (row: number) => sealed({ file: 0, row }, { ...scope, filters: '' }),
    caller: (row: number) => sealed({ file: 0, row }, { ...scope, principal: 'sub_2' }),
  })) {
    const changed = mean(other)
    t.ok(changed > 38 && changed < 42, `${name}: ${changed} bits`)
  }
  t.equal(new Set(rows.map((row) => sealed({ file: 0, row }).toString('hex'))).size, 1000)
  t.equal(writeCursor(key, scope, position), writeCursor(key, scope, position), 'the same text')
  t.end()
})

await t.test('a cursor of the earlier format, with its position to be read, is refused', (t) => {
  const head = Buffer.concat([
    Buffer.from([1]),
    Buffer.from(scope.version, 'hex'),
    Buffer.alloc(10),
  ])
  const { dataset, version, principal, filters } = scope
  const signature = createHmac('sha256', key)
    .update(head)
    .update(JSON.stringify([dataset, version, principal, filters]))
    .digest()
  const cursor = Buffer.concat([head, signature.subarray(0, 16)]).toString('base64url')
  t.throws(() => readCursor(key, scope, cursor), invalid)
  t.equal(cursorVersion(cursor), null)
  t.equal(cursorVersion(writeCursor(key, scope, position)), scope.version)
  t.end()
})

await t.test('no single bit of a cursor can be turned', (t) => {
  const bytes = Buffer.from(writeCursor(key, scope, position), 'base64url')
  let accepted = 0
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const forged = Buffer.from(bytes)
    forged[bit >> 3] = (forged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    try {
      readCursor(key, scope, forged.toString('base64url'))
      accepted += 1
    } catch (cause) {
      t.match(cause, invalid)
    }
  }
  t.equal(accepted, 0)
  t.end()
})

await t.test('no letter of a cursor can be changed, not even where it means the same bits', (t) => {
  const cursor = writeCursor(key, scope, position)
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= .\u{1f600}'
  const accepted: string[] = []
  for (let index = 0; index < cursor.length; index++) {
    for (const letter of letters) {
      if (letter === cursor[index]) continue
      const forged = cursor.slice(0, index) + letter + cursor.slice(index + 1)
      try {
        readCursor(key, scope, forged)
        accepted.push(forged)
      } catch {}
    }
  }
  t.same(accepted, [])
  t.end()
})

await t.test('a cursor that is cut, longer, padded or no cursor is refused in one text', (t) => {
  const cursor = writeCursor(key, scope, position)
  const texts = [
    '',
    'x',
    cursor.slice(1),
    cursor.slice(0, -1),
    `${cursor}A`,
    `${cursor}=`,
    ` ${cursor}`,
    `${cursor} `,
    `${cursor}${cursor}`,
    'null',
    '0',
    '%',
    '\0',
    'A'.repeat(47),
    'A'.repeat(1_000_000),
  ]
  for (const text of texts) t.throws(() => readCursor(key, scope, text), invalid)
  t.end()
})

await t.test(
  'a cursor is valid only for its key, dataset, version, subscription and filters',
  (t) => {
    const cursor = writeCursor(key, scope, position)
    const others: readonly Partial<CursorScope>[] = [
      { dataset: 'thing' },
      { version: '0123456789abcdee' },
      { principal: 'sub_2' },
      { filters: '' },
      { principal: 'demo', filters: '' },
      { dataset: 'things"', filters: '' },
    ]
    for (const other of others) {
      t.throws(
        () => readCursor(key, { ...scope, ...other }, cursor),
        invalid,
        JSON.stringify(other),
      )
    }
    t.throws(() => readCursor(Buffer.alloc(32), scope, cursor), invalid)
    t.same(readCursor(key, { ...scope }, cursor), position)
    t.end()
  },
)

await t.test('the value of one scope field can not pass for another', (t) => {
  const text = fc.string({ unit: fc.constantFrom('"', ',', '[', ']', '\\', 'a'), maxLength: 6 })
  const cut = (whole: string, at: number): CursorScope => ({
    ...scope,
    principal: whole.slice(0, at),
    filters: whole.slice(at),
  })
  fc.assert(
    fc.property(text, fc.nat(6), fc.nat(6), (whole, here, there) => {
      const [one, other] = [cut(whole, here), cut(whole, there)]
      const isSame = one.principal === other.principal
      return (writeCursor(key, one, position) === writeCursor(key, other, position)) === isSame
    }),
    { numRuns: 2000 },
  )
  t.end()
})

await t.test('a cursor by a key holds its values, encrypted and bound to its question', (t) => {
  const place = { key: ['7708004767', null, 'Ёлка "ООО"'.repeat(20)] }
  const cursor = writeCursor(key, scope, place)
  t.same(readCursor(key, scope, cursor), place)
  t.equal(cursorVersion(cursor), scope.version)
  t.notMatch(Buffer.from(cursor, 'base64url').toString('latin1'), '7708004767')
  const bytes = Buffer.from(cursor, 'base64url')
  for (const at of [0, 5, 9, 40, 60, 200, bytes.length - 1]) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8((changed[at] ?? 0) ^ 1, at)
    t.throws(() => readCursor(key, scope, changed.toString('base64url')), { code: 'bad_request' })
  }
  const others = [
    { ...scope, filters: 'others' },
    { ...scope, principal: 'another' },
  ]
  for (const other of others) t.throws(() => readCursor(key, other, cursor))
  const long = writeCursor(key, scope, { key: ['x'.repeat(9000)] })
  t.throws(() => readCursor(key, scope, long), { code: 'bad_request' })
  t.end()
})
