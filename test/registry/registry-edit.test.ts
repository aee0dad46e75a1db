import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { parse } from 'yaml'
import { withDatasetEntry, withDatasetFiles } from '../../src/registry/registry-edit.js'

const block = `title: 'It''s new' # a title
files: data/new/*.parquet
plans:
  free: { rows_per_month: 1000, history: all, price_rub: 0 }
`
const entry = parse(block) as unknown

interface Page {
  readonly datasets: Readonly<Record<string, { readonly files: unknown }>>
}

function filesOf(text: string, dataset: string): unknown {
  return (parse(text) as Page).datasets[dataset]?.files
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

const styles: readonly (readonly [string, string])[] = [
  ['plain', 'data/a.parquet'],
  ['plain with a comment', 'data/*.parquet # months'],
  ['single quotes', "'data/it''s.parquet' # months"],
  ['double quotes', '"data/\\u0061.parquet"'],
  ['on the next line', '\n      data/a.parquet # months'],
  ['folded', '>-\n      data/a.parquet'],
  ['flow list', '[a.parquet,   b.parquet] # months'],
  ['flow list of lines', '[\n      a.parquet,\n      b.parquet,\n    ]'],
  ['block list', '# months\n      - a.parquet # January\n      # between\n      - "b.parquet"'],
  ['block list at its key', '\n    - a.parquet\n    - b.parquet # February\n    - c.parquet'],
  ['anchor', '&files data/a.parquet'],
]

for (const [style, files] of styles) {
  for (const lineBreak of ['\n', '\r\n']) {
    const page = pageWith(files).replaceAll('\n', lineBreak)
    await t.test(`files written as ${style}${lineBreak === '\n' ? '' : ', CRLF'}`, (t) => {
      for (const wanted of [
        'v/1/*.parquet',
        ['one.parquet'],
        ["o'ne, [1].parquet", 'б.parquet', 'c'],
      ]) {
        const changed = withDatasetFiles(page, 'a', wanted)
        t.same([filesOf(changed, 'a')].flat(), [wanted].flat())
        t.ok(changed.startsWith(page.slice(0, page.indexOf('files:'))))
        t.ok(changed.endsWith(page.slice(page.indexOf('    key:'))))
        for (const [comment] of page.matchAll(/# \w+/g)) t.match(changed, comment)
        t.equal(changed.replaceAll('\r\n', '\n').includes('\r'), false)
        if (lineBreak === '\r\n') t.notMatch(changed, /[^\r]\n/)
        const again = withDatasetFiles(changed, 'a', filesOf(page, 'a') as string[])
        t.same([filesOf(again, 'a')].flat(), [filesOf(page, 'a')].flat())
      }
      t.equal(filesOf(withDatasetFiles(page, 'b', 'c.parquet'), 'b'), 'c.parquet')
      t.end()
    })
  }
}

await t.test('a scalar is replaced and nothing else, not even its comment', (t) => {
  const page = pageWith('data/*.parquet   # months')
  t.equal(
    withDatasetFiles(page, 'a', 'packed/*.parquet'),
    page.replace('data/*.parquet', 'packed/*.parquet'),
  )
  t.equal(
    withDatasetFiles(page, 'a', ['a b', 'null', '1']),
    page.replace('data/*.parquet', "[a b, 'null', '1']"),
  )
  t.end()
})

await t.test('lines are removed from and added to a block list, and its comments stay', (t) => {
  const page = pageWith('\n      - a # January\n      # between\n      - b\n      - c # March')
  t.equal(
    withDatasetFiles(page, 'a', 'x'),
    pageWith('\n      - x # January\n      # between\n      # March'),
  )
  t.equal(
    withDatasetFiles(page, 'a', ['x', 'y', 'z', '5']),
    pageWith("\n      - x # January\n      # between\n      - y\n      - z # March\n      - '5'"),
  )
  t.end()
})

await t.test('an edit that would change other parts is rejected', (t) => {
  const shared = 'datasets:\n  a: &a {title: A, files: a}\n  b: *a\n'
  t.throws(() => withDatasetFiles(shared, 'a', 'x'), /can't be edited automatically/)
  const twice = 'datasets:\n  a: {title: A, files: &f a}\n  b: {title: B, files: *f}\n'
  t.throws(() => withDatasetFiles(twice, 'a', 'x'), /can't be edited automatically/)
  t.equal(withDatasetFiles(twice, 'b', 'x'), twice.replace('*f', 'x'))
  const commented = pageWith('[a, # January\n      b]')
  t.throws(() => withDatasetFiles(commented, 'a', 'x'), /can't be edited automatically/)
  t.throws(() => withDatasetFiles(pageWith('x'), 'c', 'x'), /datasets\.c\.files/)
  t.throws(() => withDatasetFiles(pageWith('x'), 'a', []), /datasets\.a\.files/)
  t.throws(() => withDatasetFiles('datasets: [', 'a', 'x'), { name: 'RegistryError' })
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

await t.test('an entry is added to texts in flow style', (t) => {
  const free =
    "title: It's new, files: data/new/*.parquet, plans: { free: { rows_per_month: 1000, history: all, price_rub: 0 } }"
  const cases: readonly (readonly [string, string])[] = [
    ['{}', `{ datasets: { n: { ${free} } } }`],
    ['{datasets: {}}', `{datasets: { n: { ${free} } }}`],
    ['datasets: {a: {title: A,},} # all', `datasets: {a: {title: A,}, n: { ${free} },} # all`],
    [
      '{demo: {}, datasets: {\n  a: 1 # a\n}}',
      `{demo: {}, datasets: {\n  a: 1, n: { ${free} } # a\n}}`,
    ],
  ]
  for (const [page, wanted] of cases) t.equal(withDatasetEntry(page, 'n', block), wanted)
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
    const changed = withDatasetFiles(text, 'procurement', 'packed/procurement/*.parquet')
    t.equal(changed, text.replace('data/procurement/*', 'packed/procurement/*'))
  }
  t.end()
})

const pathText = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom(
    '~',
    'null',
    '- x',
    '#x',
    "it's",
    '*a',
    '&a',
    '!x',
    '%',
    '@',
    'a: b',
    'a #b',
    '...',
  ),
)

await t.test('any path can be written in any style, and reads back unchanged', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(...styles),
      fc.boolean(),
      fc.array(pathText, { minLength: 1, maxLength: 5 }),
      ([, files], isWindows, wanted) => {
        const page = isWindows ? pageWith(files).replaceAll('\n', '\r\n') : pageWith(files)
        const changed = withDatasetFiles(page, 'a', wanted)
        t.same([filesOf(changed, 'a')].flat(), wanted)
      },
    ),
    { numRuns: 300 },
  )
  t.end()
})
