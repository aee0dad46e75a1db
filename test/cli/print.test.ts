import t from 'tap'
import { count, day, minute } from '../../src/cli/print.js'
import { linesOrNone, listLines } from '../../src/cli/table.js'
import { isoTime, isoTimeOrNull } from '../../src/text.js'

const terminal = { write: () => undefined, isTTY: true }
const pipe = { write: () => undefined }
const ms = Date.UTC(2026, 10, 21, 5, 14, 59, 999)

await t.test('on a terminal columns are aligned, numbers to the right with thin spaces', (t) => {
  t.same(
    listLines(
      terminal,
      [
        { name: 'a', rows: 1_234_567, why: null },
        { name: 'длинное', rows: 5, why: 'because' },
      ],
      { NAME: (each) => each.name, ROWS: (each) => each.rows, WHY: (each) => each.why },
    ),
    ['NAME          ROWS  WHY', 'a        1\u202f234\u202f567  —', 'длинное          5  because'],
  )
  t.end()
})

await t.test('elsewhere tabs separate cells, numbers are plain, an absent value is empty', (t) => {
  t.same(
    listLines(
      pipe,
      [
        { name: 'a', rows: 1_234_567 },
        { name: null, rows: null },
      ],
      { NAME: (each) => each.name, ROWS: (each) => each.rows },
    ),
    ['NAME\tROWS', 'a\t1234567', '\t'],
  )
  t.same(linesOrNone(pipe, [], 'none', { NAME: () => null }), ['none'])
  t.equal(count(pipe, 50_000), '50000')
  t.equal(count(terminal, 50_000), '50\u202f000')
  t.equal(count(terminal, 999), '999')
  t.end()
})

await t.test('times are in UTC, cut and never rounded up', (t) => {
  t.equal(day(ms), '2026-11-21')
  t.equal(minute(ms), '2026-11-21 05:14 UTC')
  t.equal(isoTime(ms), '2026-11-21T05:14:59Z')
  t.equal(isoTimeOrNull(ms), '2026-11-21T05:14:59Z')
  t.equal(isoTimeOrNull(null), null)
  t.end()
})
