import t from 'tap'
import { KeptPages } from '../../../src/engine/rows/kept-pages.js'
import { pageBytes } from '../../../src/engine/rows/layout.js'

const slots = 16_384

await t.test('a page is found by its copy and place, never one of the same slot', (t) => {
  const pages = new KeptPages()
  const copies = Array.from({ length: slots + 1 }, () => pages.nextCopy())
  const [first = 0, last = 0] = [copies[0], copies.at(-1)]
  t.equal(new Set(copies).size, copies.length)
  const [page, later, other] = ['page', 'later', 'other'].map((text) => Buffer.from(text))
  pages.keep(first, 100, page ?? Buffer.alloc(0))
  t.equal(pages.find(first, 100), page)
  t.equal(pages.find(last, 100), undefined, 'a copy with the same slots')
  t.equal(pages.find(first, 100 + slots * pageBytes), undefined, 'a place with the same slot')
  t.equal(pages.find(first, 101), undefined, 'a place in the same page')
  pages.keep(first, 100 + slots * pageBytes, later ?? Buffer.alloc(0))
  t.equal(pages.find(first, 100), undefined, 'the later page took the slot')
  pages.keep(last, 100, other ?? Buffer.alloc(0))
  t.equal(pages.find(last, 100), other)
  t.equal(pages.find(first, 100 + slots * pageBytes), undefined)
  t.end()
})
