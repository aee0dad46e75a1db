import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { withDatasetEntry } from '../../src/registry/registry-edit.js'

const block = `title: 'It''s new' # a title
files: data/new/*.parquet
plans:
  free: { rows_per_month: 1000, history: all, price_rub: 0 }
`
const entry = parse(block) as unknown

interface Page {
  readonly datasets: Readonly<Record<string, unknown>>
}

/** A page with `files` of dataset `a` written like this. */
function pageWith(files: string): string {
  return `# top
datasets: # all
  a: # one
    title: "A" # kept
    files: ${files}
    key: [x,  y]   # spaces stay

  b: { title: B, files: 'b.parquet' } # two
# end`
}

await t.test('an edit that would change other parts is rejected', (t) => {
  t.throws(() => withDatasetEntry(pageWith('x'), 'a', block), /already has a dataset "a"/)
  t.throws(() => withDatasetEntry('datasets: 5', 'n', block), /can't be edited automatically/)
  t.throws(() => withDatasetEntry('datasets: {}\n---\na: 1', 'n', block), { name: 'RegistryError' })
  t.end()
})

const pages: readonly (readonly [string, string, string])[] = [
  ['an empty file', '', 'datasets:\n  n:\n    T'],
  ['comments only', '# mine', '# mine\n\ndatasets:\n  n:\n    T'],
  ['an empty value', 'datasets:', 'datasets:\n  n:\n    T'],
  ['an empty value, comment', 'datasets: # all\n# end', 'datasets: # all\n  n:\n    T\n# end'],
  ['null', 'datasets: null # all\n', 'datasets: # all\n  n:\n    T\n'],
  ['{}', 'datasets: {} # all\ndemo: x', 'datasets: # all\n  n:\n    T\ndemo: x'],
  [
    'no datasets',
    'demo: {token: x} # t\n# end',
    'demo: {token: x} # t\n\ndatasets:\n  n:\n    T\n# end',
  ],
  [
    'neighbours four deep',
    'datasets:\n    a:\n        title: A\n\n\n# end\n',
    'datasets:\n    a:\n        title: A\n\n    n:\n        T\n\n\n# end\n',
  ],
  [
    'comments below the last entry',
    'datasets:\n  a:\n    title: A # a\n\n    # key: x\n  # b:\n',
    'datasets:\n  a:\n    title: A # a\n\n    # key: x\n\n  n:\n    T\n  # b:\n',
  ],
]

for (const [style, page, wanted] of pages) {
  for (const lineBreak of ['\n', '\r\n']) {
    await t.test(`an entry is added to ${style}${lineBreak === '\n' ? '' : ', CRLF'}`, (t) => {
      const added = withDatasetEntry(page.replaceAll('\n', lineBreak), 'n', 'title: T\n')
      const expected = wanted.replace('T', 'title: T').replaceAll('\n', lineBreak)
      const end = page === '' || page === '# mine' ? '\n' : ''
      t.equal(added.replaceAll('\r\n', '\n'), (expected + end).replaceAll('\r\n', '\n'))
      if (page.includes('\n') && lineBreak === '\r\n') t.notMatch(added, /[^\r]\n/)
      t.end()
    })
  }
}

await t.test('a text in flow style is not edited', (t) => {
  for (const text of ['{}', '{datasets: {}}', 'datasets: {a: {title: A,},} # all']) {
    t.throws(() => withDatasetEntry(text, 'n', block), /can't be edited automatically/)
  }
  t.end()
})

await t.test('names that YAML would read as something else are quoted', (t) => {
  for (const name of ['2024', 'null', 'true', '1e3', '0x1f', '_']) {
    const added = withDatasetEntry(pageWith('x'), name, block)
    t.same((parse(added) as Page).datasets[name], entry)
  }
  t.end()
})

await t.test('the shipped registry stays byte for byte outside the edit', (t) => {
  const shipped = readFileSync('registry.yaml', 'utf8')
  for (const text of [
    shipped,
    shipped.replaceAll('\n', '\r\n'),
    `\ufeff${shipped}`,
    shipped.trimEnd(),
  ]) {
    const added = withDatasetEntry(text, 'n', block)
    const at = added.indexOf('\n  n:') - (text.includes('\r') ? 3 : 1)
    t.equal(added.slice(0, at) + added.slice(at + added.length - text.length), text)
  }
  t.end()
})
