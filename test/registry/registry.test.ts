import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { readRegistry } from '../../src/catalog.js'
import { RegistryError, listOf, parseRegistry, plansOf } from '../../src/registry/registry.js'
import type { Registry } from '../../src/registry/registry.js'

const folder = '/srv/data'

function parse(text: string): Registry {
  return parseRegistry(text, `${folder}/registry.yaml`)
}

/** The mistakes in a text, one line each. */
function problemsOf(text: string): readonly string[] {
  try {
    parse(text)
  } catch (cause) {
    if (cause instanceof RegistryError) return cause.problems
    throw cause
  }
  return []
}

/** The mistakes in a dataset with these lines below title and files. */
function datasetProblems(...lines: readonly string[]): readonly string[] {
  const body = ['title: Things', 'files: data/*.parquet', ...lines]
  return problemsOf(`datasets:\n  things:\n${body.map((line) => `    ${line}\n`).join('')}`)
}

const plan = '{rows_per_month: 10, history: all, price_rub: 0}'

await t.test('a deeply nested text is refused quickly', (t) => {
  const deep = {
    brackets: `a: ${'['.repeat(100_000)}`,
    'closed brackets': `a: ${'['.repeat(60)}${']'.repeat(60)}`,
    items: `a:\n  ${'- '.repeat(1000)}x`,
    keys: `${'? '.repeat(1000)}x`,
    'keys on lines': Array.from({ length: 190 }, (_, index) => `${' '.repeat(index)}?`).join('\n'),
    indents: Array.from({ length: 900 }, (_, index) => `${' '.repeat(index)}a:`).join('\n'),
  }
  for (const [name, text] of Object.entries(deep)) {
    const problem = 'registry.yaml has more than 50 levels, one in another.'
    t.same(problemsOf(text), [problem], name)
  }
  const brackets = `[]{}`.repeat(100)
  t.same(datasetProblems(`description: "${'['.repeat(100)}${brackets}"`), [], 'in a text')
  t.end()
})

await t.test('a registry of more than 4 MB is refused', async (t) => {
  const path = join(t.testdir({}), 'registry.yaml')
  writeFileSync(path, `# ${'x'.repeat(4_000_000)}\n`)
  const cause: unknown = await readRegistry(path).catch((error: unknown) => error)
  t.ok(cause instanceof RegistryError)
  t.match(cause, {
    problems: ['registry.yaml has 4000003 bytes, and at most 4000000 are read.'],
  })
})

await t.test('a registry of one dataset with title and files is enough', (t) => {
  const registry = parse('datasets:\n  things: {title: Things, files: a.parquet}\n')
  t.equal(registry.folder, folder, 'paths are relative to the registry')
  t.equal(registry.demo, null)
  t.same([...registry.datasets], [['things', { title: 'Things', files: 'a.parquet' }]])
  t.same(listOf(registry.datasets.get('things')?.files), ['a.parquet'])
  t.same(listOf(undefined), [])
  t.end()
})

await t.test('every documented key is accepted', (t) => {
  const registry = parse(`
demo: {token: das_demo_public, rate_per_minute: 5}
datasets:
  things:
    title: Things
    description: What there is
    source: Ours
    files: [a.parquet, "b/*.parquet"]
    key: [id, year]
    history: year
    limit: {default: 10, max: 20}
    require_filter: auto
    timeout_seconds: 0.5
    listed: true
    pack: off
    dictionary: things.csv
    columns:
      line_2110: {name: "2110", description: Revenue, unit: RUB, json: string}
      x: {hidden: true}
      okved: {levels: {class: 2, group: 5}, labels: okved.csv}
    aggregates: {rows_per_group: 2}
    measures:
      margin: {ratio: 2400/2110, unit: fraction, description: Profit by revenue}
      high: {p90: "2110"}
    demo: {id: ["1", 2, true]}
    plans:
      free: {rows_per_month: 1000, history: 1, price_rub: 0, rate_per_minute: 60}
      pro: {rows_per_month: 5000, history: all, price_rub: 990, aggregates: false}
`)
  t.same(registry.demo, { token: 'das_demo_public', ratePerMinute: 5 })
  const entry = registry.datasets.get('things')
  if (!entry) throw new Error('no entry')
  t.same(
    [...plansOf(entry).values()],
    [
      {
        name: 'free',
        title: null,
        rowsPerMonth: 1000,
        history: 1,
        priceRub: 0,
        ratePerMinute: 60,
        aggregates: true,
      },
      {
        name: 'pro',
        title: null,
        rowsPerMonth: 5000,
        history: 'all',
        priceRub: 990,
        ratePerMinute: 120,
        aggregates: false,
      },
    ],
  )
  t.end()
})

await t.test('the demo token has 30 requests a minute by default', (t) => {
  const registry = parse('demo: {token: das_demo_abcd}\ndatasets: {}\n')
  t.same(registry.demo, { token: 'das_demo_abcd', ratePerMinute: 30 })
  t.end()
})

await t.test('a number with commas in braces is reported as such', (t) => {
  for (const number of ['10,000', '10,500']) {
    const plan = `{rows_per_month: ${number}, history: all, price_rub: 0}`
    const problems = problemsOf(
      `datasets:\n  things:\n    title: x\n    files: x\n    history: year\n    plans: {pro: ${plan}}`,
    )
    t.match(problems, [
      /plans\.pro\.\d+: unknown key\. A comma ends a value in braces: write 10000, not 10,000\.$/,
    ])
    t.equal(problems.length, 1)
  }
  t.end()
})

await t.test('an unknown key is reported with its location and the nearest known key', (t) => {
  const cases: readonly (readonly [text: string, problem: string])[] = [
    ['dataset: {}\ndatasets: {}', '1:1: dataset: unknown key. Did you mean "datasets"?'],
    [
      'demo: {token: das_demo_abcd, rate: 5}\ndatasets: {}',
      '1:30: demo.rate: unknown key. Did you mean "rate_per_minute"?',
    ],
    [
      'datasets:\n  things:\n    title: x\n    files: y\n    histroy: year',
      '5:5: datasets.things.histroy: unknown key. Did you mean "history"?',
    ],
    [
      'datasets:\n  things:\n    title: x\n    files: y\n    kye: id',
      '5:5: datasets.things.kye: unknown key. Did you mean "key"?',
    ],
    [
      'datasets:\n  things: {title: x, files: y, limit: {maxx: 5}}',
      '2:40: datasets.things.limit.maxx: unknown key. Did you mean "max"?',
    ],
    [
      'datasets:\n  things: {title: x, files: y, columns: {"2110": {hiden: true}}}',
      '2:51: datasets.things.columns.2110.hiden: unknown key. Did you mean "hidden"?',
    ],
    [
      'datasets:\n  things: {title: x, files: y, plans: {free: {rows_per_month: 1, history: all, price_rub: 0, row_per_month: 1}}}',
      '2:94: datasets.things.plans.free.row_per_month: unknown key. Did you mean "rows_per_month" or "rate_per_minute"?',
    ],
    ['datasets: {}\nzzzzzzzz: 1', '2:1: zzzzzzzz: unknown key.'],
  ]
  for (const [text, problem] of cases) {
    t.same(problemsOf(text), [`registry.yaml:${problem}`])
  }
  t.end()
})

await t.test('a key that is gone is ignored, with a warning of its location', (t) => {
  const entry = '    title: Things\n    files: a.parquet\n    pack_to: [s3://data/packed/]\n'
  const warning =
    'registry.yaml:5:5: datasets.things.pack_to: is gone and ignored: each server packs its own ' +
    'copy now. Remove it.'
  const registry = parse(`datasets:\n  things:\n${entry}`)
  t.same(registry.warnings, [warning])
  t.same(parse('datasets: {}').warnings, [])
  t.same(problemsOf(`datasets:\n  things:\n${entry}    limt: 3\n`), [
    'registry.yaml:6:5: datasets.things.limt: unknown key. Did you mean "limit"?',
  ])
  t.match(problemsOf(`pack_to: x\ndatasets: {}`), [/:1:1: pack_to: unknown key\./])
  t.match(datasetProblems('columns: {pack_to: {pack_to: x}}'), [/pack_to\.pack_to: unknown key\./])
  t.end()
})

await t.test('all of many unknown keys are reported', (t) => {
  const names = Array.from({ length: 15 }, (_, index) => `wrong_${index}`)
  const problems = datasetProblems(...names.map((name) => `${name}: 1`))
  t.same(
    problems,
    names.map(
      (name, index) => `registry.yaml:${5 + index}:5: datasets.things.${name}: unknown key.`,
    ),
  )
  t.end()
})

await t.test('a wrong type or value is reported with what is allowed and what was found', (t) => {
  const wrong: readonly (readonly [line: string, problem: string])[] = [
    ['title: 5', 'title: must be a text, or an object {en, ru}, got 5.'],
    ['description: ""', 'description: must be a text, or an object {en, ru}, got "".'],
    ['source: [a]', 'source: must be a text, or an object {en, ru}.'],
    ...['2024-13', '2024-00', '2023-02-29', '2024-1', '2024-12-31T00:00', '24', 'now'].map(
      (date): [string, string] => [
        `as_of: '${date}'`,
        `as_of: must be a year, a month or a day: 2024, 2024-12 or 2024-12-31, got "${date}".`,
      ],
    ),
    ['as_of: 24', 'as_of: must be a year, a month or a day: 2024, 2024-12 or 2024-12-31, got 24.'],
    ['as_of: [2024]', 'as_of: must be a year, a month or a day: 2024, 2024-12 or 2024-12-31.'],
    ['files: 5', 'files: must be a path, a glob or a list of them, got 5.'],
    ['files: []', 'files: must be a path, a glob or a list of them.'],
    ['files: [a, 5]', 'files.1: must be a path, a glob or a list of them, got 5.'],
    ['key: {inn: year}', 'key: must be a column name or a list of them.'],
    ['key: [inn, 2110]', 'key.1: must be a column name or a list of them, got 2110.'],
    ['history: [year]', 'history: must be a text.'],
    ['limit: 100', 'limit: must be an object {default, max}, got 100.'],
    ['limit: {max: 0}', 'limit.max: must be a whole number of rows, 1 to 100000, got 0.'],
    ['limit: {max: 1.5}', 'limit.max: must be a whole number of rows, 1 to 100000, got 1.5.'],
    [
      'limit: {default: 100001}',
      'limit.default: must be a whole number of rows, 1 to 100000, got 100001.',
    ],
    ['require_filter: always', 'require_filter: must be auto, true or false, got "always".'],
    ['timeout_seconds: 0', 'timeout_seconds: must be a number of seconds, 0.1 to 300, got 0.'],
    ['timeout_seconds: 301', 'timeout_seconds: must be a number of seconds, 0.1 to 300, got 301.'],
    ['listed: yes', 'listed: must be true or false, got "yes".'],
    ['dictionary: false', 'dictionary: must be a text, got false.'],
    ['columns: [inn]', 'columns: must be a map of columns by name.'],
    [
      'columns: {inn: Number}',
      'columns.inn: must be an object {name, label, section, description, unit, hidden, json, type, levels, labels, search, check}, got "Number".',
    ],
    ['columns: {inn: {json: text}}', 'columns.inn.json: must be "string", got "text".'],
    [
      `columns: {inn: {label: ${'x'.repeat(61)}}}`,
      `columns.inn.label: must be a text of at most 60 characters, or an object {en, ru}, got "${'x'.repeat(40)}…".`,
    ],
    [
      `columns: {inn: {label: {en: INN, ru: ${'я'.repeat(61)}}}}`,
      `columns.inn.label.ru: must be a text of at most 60 characters, got "${'я'.repeat(40)}…".`,
    ],
    [
      'columns: {"a\\nb": 5}',
      'columns."a\\nb": must be an object {name, label, section, description, unit, hidden, json, type, levels, labels, search, check}, got 5.',
    ],
    ['demo: [inn]', 'demo: must be a map of at least one column name to a list of values.'],
    ['demo: {}', 'demo: must be a map of at least one column name to a list of values.'],
    ['demo: {inn: x}', 'demo.inn: must be a list of 1 to 1000 values, got "x".'],
    ['demo: {inn: []}', 'demo.inn: must be a list of 1 to 1000 values.'],
    [
      'demo: {inn: [null]}',
      'demo.inn.0: must be a single value: a text, a number, true or false, got null.',
    ],
    ['plans: [free]', 'plans: must be a map of plans by name.'],
    [
      'plans: {free: 1000}',
      'plans.free: must be an object {title, rows_per_month, history, price_rub, rate_per_minute, aggregates}, got 1000.',
    ],
    [
      'plans: {free: {rows_per_month: 0, history: all, price_rub: 0}}',
      'plans.free.rows_per_month: must be a whole number of at least 1, got 0.',
    ],
    [
      'plans: {free: {rows_per_month: 1e300, history: all, price_rub: 0}}',
      'plans.free.rows_per_month: must be a whole number of at least 1, got 1e+300.',
    ],
    [
      'plans: {free: {rows_per_month: 1, history: some, price_rub: 0}}',
      'plans.free.history: must be "all" or a number of latest years, 1 to 1000, got "some".',
    ],
    [
      'plans: {free: {rows_per_month: 1, history: 1001, price_rub: 0}}',
      'plans.free.history: must be "all" or a number of latest years, 1 to 1000, got 1001.',
    ],
    [
      'plans: {free: {rows_per_month: 1, history: all, price_rub: -1}}',
      'plans.free.price_rub: must be whole roubles a month, 0 to 1000000000, got -1.',
    ],
    [
      'plans: {free: {rows_per_month: 1, history: all, price_rub: 0, rate_per_minute: fast}}',
      'plans.free.rate_per_minute: must be a whole number of at least 1, got "fast".',
    ],
  ]
  for (const [line, problem] of wrong) {
    const key = line.split(':')[0] ?? ''
    const others = ['title: Things', 'files: a', 'history: year'].filter(
      (each) => !each.startsWith(key),
    )
    const lines = [...others, line].map((each) => `    ${each}\n`).join('')
    const problems = problemsOf(`datasets:\n  things:\n${lines}`)
    t.equal(problems.length, 1, line)
    t.match(problems[0], /^registry\.yaml:\d+:\d+: datasets\.things\./)
    t.ok(problems[0]?.endsWith(`datasets.things.${problem}`), problems.join())
  }
  t.end()
})

await t.test('a registry that is not an object, or lacks a key, is rejected', (t) => {
  t.same(problemsOf(''), ['registry.yaml:1:1: datasets: is missing.'])
  t.same(problemsOf('# only a comment\n'), ['registry.yaml:1:1: datasets: is missing.'])
  t.same(problemsOf('- a\n'), [
    'registry.yaml:1:1: the registry: must be a registry: {demo, datasets, prompts, shop, portal}.',
  ])
  t.same(problemsOf('datasets: [a]'), [
    'registry.yaml:1:1: datasets: must be a map of datasets by name.',
  ])
  t.same(problemsOf('datasets:\n  things: 5'), [
    'registry.yaml:2:3: datasets.things: must be a dataset, got 5.',
  ])
  for (const [text, problem] of [
    ['datasets:', '1:1: datasets: must be a map of datasets by name'],
    ['datasets:\n  things:', '2:3: datasets.things: must be a dataset'],
    ['shop:\ndatasets: {}', '1:1: shop: must be an object {free, paid, terms, contact, payment}'],
  ] as const) {
    const hint = 'got nothing: write its value after the colon, or its keys below, indented more.'
    t.same(problemsOf(text), [`registry.yaml:${problem}, ${hint}`])
  }
  t.same(problemsOf('datasets:\n  things: {}'), [
    'registry.yaml:2:3: datasets.things.files: is missing.',
    'registry.yaml:2:3: datasets.things.title: is missing.',
  ])
  t.same(problemsOf('demo: {}\ndatasets: {}'), ['registry.yaml:1:1: demo.token: is missing.'])
  t.same(problemsOf('demo: {token: secret}\ndatasets: {}'), [
    'registry.yaml:1:8: demo.token: must be das_demo_ followed by 4 to 64 letters and digits.',
  ])
  t.end()
})

await t.test('the date of the data is a year, a month or a day of the calendar', (t) => {
  for (const date of ['2024', '2024-12', '2024-02-29', '"2024"', '0001-01-01']) {
    t.same(datasetProblems(`as_of: ${date}`), [], date)
  }
  t.match(datasetProblems('as_of: 2024-99'), [/^registry\.yaml:5:5: datasets\.things\.as_of: must/])
  t.end()
})

await t.test('settings for packing, breaking changes and kept versions are checked', (t) => {
  const lines = ['pack: off', 'pack: auto', 'allow_breaking: true', 'keep_versions_hours: 0']
  for (const line of lines) t.same(datasetProblems(line), [], line)
  t.same(datasetProblems('pack: on'), [
    'registry.yaml:5:5: datasets.things.pack: must be off or auto, got "on".',
  ])
  t.same(datasetProblems('keep_versions_hours: 1.5'), [
    'registry.yaml:5:5: datasets.things.keep_versions_hours: must be a whole number of hours, 0 to 8760, got 1.5.',
  ])
  t.end()
})

await t.test(
  'a dataset name has up to 64 characters of a-z, 0-9 and _, and is not account',
  (t) => {
    const named = (name: string) =>
      problemsOf(`datasets:\n  ${JSON.stringify(name)}: {title: x, files: y}`)
    for (const name of ['a', '2024', 'things_2', 'a'.repeat(64), 'constructor', '__proto__']) {
      t.same(named(name), [], name)
    }
    for (const name of ['Things', 'a-b', 'a.b', '', 'вещи', 'a'.repeat(65), 'a/b', 'a\n']) {
      const [problem, ...rest] = named(name)
      t.equal(
        problem,
        `registry.yaml:2:3: datasets.${name}: a dataset name must be 1 to 64 characters of a-z, 0-9 and "_".`,
      )
      t.same(rest, [])
    }
    t.same(named('account'), [
      'registry.yaml:2:3: datasets.account: the name is reserved; choose another.',
    ])
    t.end()
  },
)

await t.test('a plan name has up to 32 characters of a-z, 0-9, _ and -', (t) => {
  const named = (name: string) => datasetProblems('plans:', `  ${JSON.stringify(name)}: ${plan}`)
  for (const name of ['free', 'pro-2', 'a_b', '1', 'p'.repeat(32)]) t.same(named(name), [], name)
  for (const name of ['Free', 'a b', 'a:b', '', 'p'.repeat(33)]) {
    t.same(named(name), [
      `registry.yaml:6:7: datasets.things.plans.${name}: a plan name must be 1 to 32 characters of a-z, 0-9, "_" and "-".`,
    ])
  }
  t.end()
})

await t.test('a plan without history sees all years of a dataset without a history column', (t) => {
  t.same(datasetProblems('plans: {last: {rows_per_month: 1, price_rub: 0}}'), [])
  t.same(datasetProblems('history: year', 'plans: {last: {rows_per_month: 1, price_rub: 0}}'), [
    'registry.yaml:6:13: datasets.things.plans.last.history: is missing: the number of latest years that the plan sees, or "all".',
  ])
  const registry = parseRegistry(
    'datasets: {things: {title: t, files: a, plans: {p: {rows_per_month: 1, price_rub: 0}}}}',
    'registry.yaml',
  )
  const things = registry.datasets.get('things')
  t.equal(things && plansOf(things).get('p')?.history, 'all')
  t.end()
})

await t.test('a demo subset that no token sees is warned of', (t) => {
  const entry = 'datasets: {things: {title: t, files: a, demo: {id: [1]}}}\n'
  t.match(parseRegistry(entry, 'registry.yaml').warnings, [
    /^registry\.yaml:1:\d+: datasets\.things\.demo: no token sees this subset/,
  ])
  const whole = `demo: {token: das_demo_opendata}\n${entry}`
  t.same(parseRegistry(whole, 'registry.yaml').warnings, [])
  t.end()
})

await t.test('a dataset with the name of a newer address is warned of', (t) => {
  for (const name of ['find', 'watch', 'webhooks', 'session']) {
    const entry = `datasets:\n  ${name}: {title: t, files: a}\n`
    t.same(parseRegistry(entry, 'registry.yaml').warnings, [
      `registry.yaml:2:3: datasets.${name}: the name is reserved, and the next release refuses it; choose another.`,
    ])
  }
  t.end()
})

await t.test('keys that contradict each other are rejected', (t) => {
  t.same(datasetProblems('limit: {default: 500, max: 100}'), [
    'registry.yaml:5:13: datasets.things.limit.default: must be at most limit.max (100), got 500.',
  ])
  t.same(datasetProblems('limit: {default: 100, max: 100}'), [])
  t.same(datasetProblems('plans: {last: {rows_per_month: 1, history: 2, price_rub: 0}}'), [
    'registry.yaml:5:39: datasets.things.plans.last.history: needs a history column: add "history: <column>" to the dataset.',
  ])
  t.same(
    datasetProblems(
      'history: year',
      'plans: {last: {rows_per_month: 1, history: 2, price_rub: 0}}',
    ),
    [],
  )
  t.end()
})

await t.test('all mistakes are reported together, in the order of the lines', (t) => {
  const problems = problemsOf(`
demo: {token: bad}
dataset: 1
datasets:
  Things:
    titel: x
    files: [1]
    limit: {default: 0, maxx: 5}
    columns: {inn: {hiden: true}}
    plans:
      Free: {rows_per_month: many, history: 3, price_rub: -1}
`)
  t.same(
    problems.map((problem) => problem.split(': ').slice(0, 2).join(' ')),
    [
      'registry.yaml:2:8 demo.token',
      'registry.yaml:3:1 dataset',
      'registry.yaml:5:3 datasets.Things',
      'registry.yaml:5:3 datasets.Things.title',
      'registry.yaml:6:5 datasets.Things.titel',
      'registry.yaml:7:13 datasets.Things.files.0',
      'registry.yaml:8:13 datasets.Things.limit.default',
      'registry.yaml:8:25 datasets.Things.limit.maxx',
      'registry.yaml:9:21 datasets.Things.columns.inn.hiden',
      'registry.yaml:11:7 datasets.Things.plans.Free',
      'registry.yaml:11:14 datasets.Things.plans.Free.rows_per_month',
      'registry.yaml:11:36 datasets.Things.plans.Free.history',
      'registry.yaml:11:48 datasets.Things.plans.Free.price_rub',
    ],
  )
  t.end()
})

await t.test('of many mistakes, the first twenty and the number of others are reported', (t) => {
  const text = Array.from({ length: 100 }, (_, index) => `  D${index}: {title: x, files: y}\n`)
  const problems = problemsOf(`datasets:\n${text.join('')}`)
  t.equal(problems.length, 21)
  t.match(problems[0], /^registry\.yaml:2:3: /)
  t.match(problems[19], /^registry\.yaml:21:3: /)
  t.equal(problems[20], '… and 80 more.')
  t.end()
})

await t.test('invalid YAML is reported with its location', (t) => {
  const cases: readonly (readonly [text: string, problem: RegExp])[] = [
    ['datasets: {a', /^registry\.yaml:1:\d+: /],
    [
      'datasets:\n\ta: 1',
      /^registry\.yaml:2:1: Tabs are not allowed as indentation\. Use spaces\.$/,
    ],
    [
      'datasets:\n  a: {title: x, files: y}\n  a: {title: z, files: w}',
      /^registry\.yaml:3:3: The key "a" is here a second time\. Keep one, or rename one\.$/,
    ],
    [
      'datasets:\n  a:\n    title: x\n    title: y\n    files: z',
      /^registry\.yaml:4:5: The key "title" is here a second time/,
    ],
    [
      'datasets:\n  a:\n    columns:\n      2110: {unit: a}\n      "2110": {unit: b}',
      /^registry\.yaml:5:7: The key "2110" is here a second time/,
    ],
    ['datasets: *nothing', /^registry\.yaml:1:11: A value that begins with \* is an alias in YAML/],
    ['datasets: !strange {}', /^registry\.yaml:1:11: Unresolved tag/],
    ['datasets: {}\n---\ndatasets: {}', /^registry\.yaml:2:1: A second document begins here/],
    [
      'datasets:\n  a:\n    title: x\n   files: y',
      /4:1: The indentation of this line fits no line/,
    ],
    ['datasets:\n  a: {title: x\nb: 1', /: A closing } is missing before this place\. Add it\.$/],
    ['datasets:\n  a: {title: "x}\n', /: A closing " is missing before this place\. Add it\.$/],
    ['datasets:\n  a:\n    title: x: y', /3:12: A colon and a space begin a value a second time/],
    ['datasets:\n  a:\n    files: *.parquet', /3:12: A value that begins with \* is an alias/],
    ['datasets:\n  a:\n    title: %x', /3:12: A text that begins with "%" needs quotes\.$/],
    ['d\0a\0t\0a\0', /^registry\.yaml:1:1: It has zero bytes, .* Save it as UTF-8\.$/],
  ]
  for (const [text, problem] of cases) {
    const problems = problemsOf(text)
    t.match(problems[0], problem, text)
    t.match(problems[0], /[^.]\.$/)
  }
  t.end()
})

await t.test('a text that grows by aliases of aliases is rejected before it is expanded', (t) => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const members =
      level === 0
        ? 'x'
        : Array(10)
            .fill(`*a${level - 1}`)
            .join()
    return `a${level}: &a${level} [${members}]\n`
  })
  t.match(problemsOf(levels.join(''))[0], /^registry\.yaml:1:1: Excessive alias count/)
  t.end()
})

await t.test('scalars keep their text under numeric keys, in lists and behind aliases', (t) => {
  const registry = parse(`
datasets:
  things:
    title: &name Things
    files: a.parquet
    demo:
      2110: [0261012138, "0261012138", 'it''s', "\\u0041b", true]
      inn: &inns
        - '1'
        - 2
  others:
    title: *name
    files: b.parquet
    demo: {inn: *inns}
`)
  const demo = (dataset: string, ...path: readonly (string | number)[]) =>
    registry.scalarAt(['datasets', dataset, 'demo', ...path])
  t.same(demo('things', '2110', 0), { text: '0261012138', isText: false })
  t.same(demo('things', '2110', 1), { text: '0261012138', isText: true })
  t.same(demo('things', '2110', 2), { text: "it's", isText: true })
  t.same(demo('things', '2110', 3), { text: 'Ab', isText: true })
  t.same(demo('things', '2110', 4), { text: 'true', isText: false })
  t.same(demo('others', 'inn', 0), { text: '1', isText: true })
  t.same(demo('others', 'inn', 1), { text: '2', isText: false })
  t.same(demo('things', 'absent', 0), { text: '', isText: false })
  t.equal(registry.locate(['datasets', 'things', 'demo', '2110', 2]), 'registry.yaml:7:40')
  t.equal(registry.locate(['datasets', 'others', 'demo', 'inn', 1]), 'registry.yaml:10:11')
  t.equal(registry.locate(['datasets', 'others', 'demo', 'absent']), 'registry.yaml:14:5')
  t.equal(registry.locate([]), 'registry.yaml:1:1')
  t.end()
})

await t.test('any text is a registry or is rejected with file, line and column', (t) => {
  const piece = fc.constantFrom(
    'datasets',
    'demo',
    'title',
    ':',
    ': ',
    '\n',
    '\n  ',
    '\n    ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '- ',
    '&a ',
    '*a',
    '!t ',
    '"',
    "'",
    '|',
    '#',
    'x',
    '1',
    '?',
    '<<',
    '\t',
    '\u{1f600}',
    '\0',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      for (const problem of problemsOf(pieces.join(''))) {
        if (!/^(registry\.yaml:\d+:\d+: |… and )/.test(problem)) return false
      }
      return true
    }),
    { numRuns: 500 },
  )
  t.end()
})

await t.test('a missing or unreadable registry is reported', async (t) => {
  const registryFolder = t.testdir({ 'folder.yaml': {} })
  writeFileSync(
    join(registryFolder, 'old.yaml'),
    Buffer.from('datasets: {a: {title: "\xd1\xe2\xe5\xf2"}}', 'latin1'),
  )
  writeFileSync(join(registryFolder, 'bom.yaml'), '\ufeffdatasets: {}\n')
  const reject = async (name: string, problem: string) =>
    await t.rejects(readRegistry(join(registryFolder, name)), { message: problem })
  await reject(
    'registry.yaml',
    'registry.yaml is not there. Start in its folder, give its path (DAS_REGISTRY, --registry), or write one: das init.',
  )
  await reject('folder.yaml', "folder.yaml can't be read (EISDIR).")
  await reject('old.yaml', 'old.yaml is not UTF-8: save it in that encoding.')
  t.equal((await readRegistry(join(registryFolder, 'bom.yaml'))).datasets.size, 0)
})

await t.test('a dataset is made of files, or it is a table with a key', (t) => {
  const of = (...lines: string[]) =>
    problemsOf(
      `datasets:\n  things:\n    title: T\n${lines.map((each) => `    ${each}\n`).join('')}`,
    )
  const engine = 'engine: {trino: "https://trino.example.org"}'
  const table = 'table: lake.public.things'
  t.same(of(engine, table, 'key: id'), [])
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[engine, 'key: id'], 'things.table: is missing: add "table: catalog.schema.table".'],
    [[table, 'key: id'], 'things.engine: is missing: add "engine: {trino: URL}".'],
    [[engine, table], 'things.key: is missing: list the columns that are unique together'],
    [[engine, table, 'key: id', 'files: a'], 'things.files: is for files; there is a table.'],
    [[engine, table, 'key: id', 'pack: auto'], 'things.pack: is for files; a table is not packed.'],
    [
      [engine, table, 'key: id', 'columns: {a: {search: true}}'],
      'things.columns.a.search: is for files; remove it.',
    ],
    [[engine, 'table: things', 'key: id'], 'things.table: must be catalog.schema.table, got "th'],
    [
      ['engine: {trino: "https://u:secret@trino"}', table, 'key: id'],
      'things.engine.trino: must be an http:// or https:// URL without user and password',
    ],
  ]
  for (const [lines, problem] of cases) {
    const [found = '', ...more] = of(...lines)
    t.ok(found.includes(problem), found)
    t.same(more, [])
  }
  t.end()
})
