import t from 'tap'
import { deflateBlock } from '../../../src/engine/rows/blocks.js'
import { PageRows } from '../../../src/engine/rows/page-rows.js'
import { Splicer } from '../../../src/engine/rows/splice.js'

await t.test('long rows do not wait for many others, however small their blocks are', async (t) => {
  const file = { index: 0, rows: 100, copy: { path: 'a', guard: null, hash: null, name: 'a' } }
  const refuse = (_: unknown, cause: unknown) => {
    throw cause
  }
  const page = new PageRows({ limit: 100, splicer: new Splicer([]), refuse })
  const rowsIn = (text: Buffer, row: number) => [{ encoded: text, position: { file: 0, row } }]
  const texts = [20, 200_000, 1_000_000, 20].map((length) => Buffer.alloc(length, 'lorem ipsum '))
  const made: number[] = []
  for (const [block, text] of texts.entries()) {
    const packed = await deflateBlock(text)
    t.ok(packed.length < 20_000)
    packed.copy(page.room(packed.length))
    page.add({ reader: { file, rowsIn }, block, numbers: [block] }, packed.length)
    page.flushIfFull()
    made.push(page.rows.length)
  }
  t.same(made, [0, 0, 3, 3])
  page.flush()
  t.same(
    page.rows.map(({ encoded }) => encoded),
    texts,
  )
})
