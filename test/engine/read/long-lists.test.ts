import t from 'tap'
import { never, openEngine } from '../fixtures/open-engine.js'

// Guarantee: a value in a long list is the very value of a row, whatever its letters or digits.

const texts = [
  '"',
  '\\',
  "'",
  '[',
  ',',
  'null',
  'ж',
  '😀',
  '\n',
  '\u0000',
  'a\u001fb',
  '\uffff',
  '1e5',
]
const types = {
  tiny: 'TINYINT',
  big: 'BIGINT',
  ubig: 'UBIGINT',
  huge: 'HUGEINT',
  uhuge: 'UHUGEINT',
  price: 'DECIMAL(18,2)',
  day: 'DATE',
}
const ends: Readonly<Record<keyof typeof types, readonly string[]>> = {
  tiny: ['-128', '127'],
  big: ['-9223372036854775808', '9223372036854775807'],
  ubig: ['0', '18446744073709551615'],
  huge: [`-${2n ** 127n}`, `${2n ** 127n - 1n}`],
  uhuge: ['0', `${2n ** 128n - 1n}`],
  price: ['-9999999999999999.99', '0.01'],
  day: ['1900-01-01', '2100-12-31'],
}
const names = Object.keys(types) as (keyof typeof types)[]

const fillers: Readonly<Record<string, (index: number) => string>> = {
  day: (index) => `2000-01-${String(index + 1).padStart(2, '0')}`,
  text: (index) => `none ${index}`,
}

await t.test('each value is found by its own text', async (t) => {
  const points = (text: string) =>
    [...text].map((letter) => `chr(${letter.codePointAt(0)})`).join(' || ')
  const rows = texts.map((text, index) => {
    const cells = names.map((name) => `'${ends[name][index % 2]}'::${types[name]} AS ${name}`)
    return `SELECT ${points(text)} AS text, ${cells.join(', ')}`
  })
  const { engine, version, filter } = await openEngine(t, {
    files: { 'a.parquet': rows.join(' UNION ALL ') },
  })
  const count = (name: string, operator: 'in' | 'not_in', values: readonly string[]) => {
    const filler = fillers[name] ?? ((index: number) => String(index + 1))
    const list = [...values, ...Array.from({ length: 20 }, (_, index) => filler(index))]
    const options = { signal: never, client: 'a client' }
    return engine.count(version, filter(name, operator, ...list), options)
  }
  for (const text of texts) {
    t.equal(await count('text', 'not_in', [text]), texts.length - 1, JSON.stringify(text))
    t.equal(await count('text', 'in', [text]), 1, JSON.stringify(text))
  }
  t.equal(await count('text', 'not_in', texts), 0)
  for (const name of names) {
    const [first = '', last = ''] = ends[name]
    t.equal(await count(name, 'not_in', [first]), 6, name)
    t.equal(await count(name, 'not_in', [last]), 7, name)
    t.equal(await count(name, 'in', [first, last]), 13, name)
  }
})
