import t from 'tap'
import { decodeBlock, encodeBlock } from '../../../src/engine/rows/blocks.js'

const cells = [
  ...[
    '',
    '0',
    '-1.5e+300',
    '12345678901234567890',
    '"2024-01-31T00:00:00.000Z"',
    '"10:30"',
    'true',
  ],
  ...['""', '"\u0001 \\u0001 \\"quoted\\" \u007f"', '"Ёлка №1 ѿҀ ԯ € 😀"', `"${'7'.repeat(62)}"`],
  ...[
    `"${'7'.repeat(61)}"`,
    `"${'я'.repeat(61)}"`,
    `"${'я'.repeat(62)}"`,
    `"${'ж'.repeat(70_000)}"`,
  ],
]

function textOf(rows: readonly (readonly string[])[], first: number): Buffer {
  return Buffer.from(rows.map((row, at) => [first + at, ...row].join('\x1f')).join('\x1e'))
}

await t.test('cells of every kind and length come back as they were', async (t) => {
  for (const cell of cells) {
    for (const empties of [0, 1, 63, 64, 65, 200]) {
      const none = Array<string>(empties).fill('')
      const rows = textOf([[...none, cell], [cell, ...none, cell, ...none], none], 4_000_000_000)
      if (!decodeBlock(encodeBlock(rows, 4_000_000_000), rows.length).equals(rows)) {
        t.fail(`${cell.slice(0, 80)} beside ${empties} empty cells`)
      }
    }
  }
})

await t.test('any bytes but the separators come back as they were', async (t) => {
  let seed = 1
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  const bytesOf = () => Buffer.from(Array.from({ length: random(90) + 1 }, () => random(256)))
  for (let round = 0; round < 2000; round += 1) {
    const isSeparator = (byte: number) => byte === 0x1e || byte === 0x1f
    const cell = Buffer.from(bytesOf().map((byte) => (isSeparator(byte) ? 0xd0 : byte)))
    const rows = Buffer.concat([Buffer.from('7\x1f'), cell, Buffer.from('\x1f\x1f1')])
    if (!decodeBlock(encodeBlock(rows, 7), rows.length).equals(rows)) t.fail(cell.toString('hex'))
  }
})
