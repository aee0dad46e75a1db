import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import { globSync } from 'tinyglobby'
import { findingLevels } from '../src/cli/check/finding-table.js'
import type { CliParts } from '../src/cli/parts.js'
import { buildProgram } from '../src/cli/program.js'
import { must } from '../scripts/checks/must.js'
import { night } from '../scripts/checks/night.js'
import type { StepList } from '../scripts/checks/step.js'
import { typeOperators } from '../src/columns/column-types.js'
import { operators } from '../src/columns/operators.js'
import { settings } from '../src/config.js'
import { commandGroups } from './support/command-groups.js'
import { errorStatus } from '../src/errors.js'
import { DatasetEntrySchema } from '../src/registry/registry-schema.js'
import { pageAt, pages } from './support/pages.js'
import type { Page } from './support/pages.js'

/** The rows of the first table after a text of a page, as lists of cells. */
function tableAfter(path: string, text: string): readonly (readonly string[])[] {
  const page = pageAt(path).text
  const start = page.indexOf(`\n${text}`)
  if (start === -1) throw new Error(`${path} has no "${text}"`)
  const table =
    page
      .slice(start)
      .replaceAll('<!-- prettier-ignore -->\n', '')
      .split('\n\n')
      .find((block) => block.startsWith('|')) ?? ''
  return table
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

function codes(cell: string | undefined): readonly string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

await t.test('the docs list every operator with its meaning, and no other', (t) => {
  t.same(
    tableAfter('docs/rest.md', '### Operators').map(([name, meaning]) => [
      codes(name)[0],
      meaning?.replaceAll('`', ''),
    ]),
    Object.entries(operators).map(([name, { meaning }]) => [name, meaning]),
  )
  t.end()
})

await t.test('the docs give each type the operators that it has', (t) => {
  const rows = tableAfter('docs/rest.md', 'The type of a column decides').flatMap(
    ([types, , names]) => codes(types).map((type) => [type, codes(names)] as const),
  )
  t.same(Object.fromEntries(rows), typeOperators)
  t.end()
})

await t.test('the docs list every error code with its status, and no other', (t) => {
  t.same(
    tableAfter('docs/rest.md', '## Errors').map(([status, code]) => [
      codes(code)[0],
      Number(status),
    ]),
    Object.entries(errorStatus),
  )
  t.end()
})

await t.test('the docs list every key of a dataset in the registry, and no other', (t) => {
  const keys = tableAfter('docs/registry.md', '## Keys of a dataset').flatMap(([cell]) =>
    codes(cell).map((code) => code.split(':')[0]),
  )
  t.same([...keys].sort(), Object.keys(DatasetEntrySchema.properties).sort())
  t.end()
})

await t.test('the docs list every key of a plan, and no other', (t) => {
  const [plan] = Object.values(DatasetEntrySchema.properties.plans.patternProperties)
  const keys = tableAfter('docs/registry.md', '## Plans').flatMap(([cell]) => codes(cell))
  t.same([...keys].sort(), Object.keys(plan?.properties ?? {}).sort())
  t.end()
})

const program = buildProgram({ version: '0', stdout: {}, stderr: {} } as unknown as CliParts)

/** `usage`, `usage repair`, `token`, `token list` … */
function commandNames(command: Command, path: readonly string[] = []): readonly string[] {
  return command.commands.flatMap((each) => {
    const name = [...path, each.name()]
    return [name.join(' '), ...commandNames(each, name)]
  })
}

await t.test('the docs list every command, and no other', (t) => {
  const names = commandNames(program).filter((name) => !commandGroups.includes(name))
  const listed = tableAfter('docs/command-line.md', '## Commands').map(([cell]) =>
    codes(cell)
      .join()
      .replace(/^das /, '')
      .replace(/ \[?[A-Z].*$/, ''),
  )
  t.same([...listed].sort(), [...names].sort())
  t.end()
})

await t.test('the docs list every setting with its default, and no other', (t) => {
  t.same(
    tableAfter('docs/operating.md', '## Settings').map(([flag, variable, value, help]) => [
      codes(flag)[0] ?? null,
      codes(variable)[0],
      codes(value)[0] ?? '',
      help,
    ]),
    Object.values(settings).map((each) => [
      each.flag,
      each.variable,
      each.default ?? '',
      each.help,
    ]),
  )
  t.end()
})

await t.test('the page on dataset checks lists every finding, and no other', (t) => {
  const rows = tableAfter('docs/dataset-check.md', '## Findings')
  t.same(
    rows.map(([code, level]) => [codes(code)[0], level]),
    Object.entries(findingLevels),
  )
  for (const [code = '', , meaning = ''] of rows) t.match(meaning, /^\w.*\.$/, code)
  t.end()
})

/** The changelog is about the past. */
const otherPages = ['CHANGELOG.md']

/** Every piece of code in the prose and the tables of the pages. */
const inlineCodes = pages
  .filter(({ path }) => !otherPages.includes(path))
  .flatMap(({ path, text }) =>
    codes(text.replaceAll(/^```[^]*?^```$/gm, '')).map((code) => ({ path, code })),
  )

await t.test('every source that the pages name exists', (t) => {
  const paths = globSync(['*.ts', '{src,test,scripts}/**/*.{ts,cts,css}']).map((path) => `/${path}`)
  const missing = inlineCodes.filter(
    ({ code }) =>
      /^\w[\w./-]*\.(ts|cts|css)$/.test(code) && !paths.some((path) => path.endsWith(`/${code}`)),
  )
  t.same(missing, [])
  t.end()
})

const optionsOf = (command: Command): readonly string[] =>
  [...command.options.flatMap(({ long, short }) => [long, short]), '--help']
    .filter((each) => each !== undefined && each !== null)
    .concat(command.commands.flatMap(optionsOf))

await t.test('every das command that the pages name exists, with its options', (t) => {
  const unknown = inlineCodes.flatMap(({ path, code }) => {
    const [, line] = /^(?:npx )?das (.*)$/.exec(code) ?? []
    if (line === undefined) return []
    let command = program
    const words = line.split(' ')
    for (const word of words) {
      command = command.commands.find((each) => each.name() === word) ?? command
    }
    const isCommand = command !== program || line.startsWith('--') || line.startsWith('…')
    const options = words.filter((word) => /^--?[a-z]/.test(word))
    const isKnown = options.every((option) => optionsOf(command).includes(option))
    return isCommand && isKnown ? [] : [`${path}: ${code}`]
  })
  t.same(unknown, [])
  t.end()
})

/** Options of curl, V8, npm, its scripts, journalctl, Podman and the MCP bridge. */
const othersOptions = [
  ...['--compressed', '--data-urlencode', '--allow-http', '--retry', '--retry-max-time'],
  ...[
    '--rows',
    '--cycles',
    '--only',
    '--list',
    '--part',
    '--record',
    '--check',
    '--objects',
    '--allow-scripts',
    '--prefix',
  ],
  ...['--no-git-tag-version', '--global', '--format', '--grep', '--read-only', '--tmpfs'],
]

await t.test('every option and variable that the pages name exists', (t) => {
  // Programs of clients read the last two, and so does `das enrich`.
  const variables = Object.values(settings).map(({ variable }) => variable)
  variables.push('DAS_SERVER', 'DAS_TOKEN')
  const known = [...optionsOf(program), ...othersOptions, ...variables]
  const unknown = inlineCodes.flatMap(({ path, code }) =>
    (code.match(/(?<![\w-])--[a-z][a-z-]*|\bDAS_[A-Z_]*[A-Z]\b/g) ?? [])
      .filter((name) => !known.includes(name))
      .map((name) => `${path}: ${name}`),
  )
  t.same(unknown, [])
  t.end()
})

await t.test(
  'the guide for contributors and the page on checks list every npm script, and no other',
  (t) => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Readonly<Record<string, string>>
    }
    const names = Object.keys(scripts).filter((name) => !/^(pre|post)/.test(name))
    const listed = ['## Tests', '## Other commands']
      .flatMap((heading) => tableAfter('CONTRIBUTING.md', heading).map(([cell]) => cell))
      .concat(tableAfter('docs/checks.md', '## Steps').map(([, , cell]) => cell))
      .flatMap((cell) => codes(cell)[0]?.replace(/^npm (run )?/, '') ?? [])
    t.same([...new Set(listed)].sort(), names.sort())
    const named = inlineCodes.flatMap(({ code }) => /^npm run ([\w:-]+)/.exec(code)?.[1] ?? [])
    t.same(
      named.filter((name) => !names.includes(name)),
      [],
    )
    t.end()
  },
)

await t.test('the page on checks lists every step with its length, and no other', (t) => {
  const rows = tableAfter('docs/checks.md', '## Steps')
  const listed = (column: number) =>
    rows.flatMap((cells) => {
      const length = cells[column] ?? ''
      return length === '' ? [] : [[codes(cells[0])[0], length]]
    })
  const steps = (list: StepList, lengthOf: (seconds: number) => string) =>
    list.steps.map(({ name, seconds }) => [name, lengthOf(seconds)])
  t.same(listed(3).sort(), steps(must, (seconds) => `${seconds} s`).sort())
  t.same(listed(4).sort(), steps(night, (seconds) => `${seconds / 60} min`).sort())
  t.end()
})

await t.test('the page on checks names the packages that .ci/run installs', (t) => {
  const packagesOf = (text: string) => {
    const [, words = ''] = /--no-install-recommends((?: |\\\n|[\w-]+)*)/.exec(text) ?? []
    return words.split(/[\s\\]+/).filter((word) => word !== '' && word !== 'python3-venv')
  }
  const installed = packagesOf(readFileSync('.ci/run', 'utf8'))
  t.ok(installed.length > 5)
  t.same(packagesOf(pageAt('docs/checks.md').text), installed)
  t.end()
})

await t.test('links between the pages resolve, with their anchors', (t) => {
  t.same(pages.flatMap(brokenLinks), [])
  t.end()
})

function brokenLinks(page: Page): readonly string[] {
  const text = page.text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`]*`/g, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^https?:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? page.path : join(dirname(page.path), file)
      const linked = pages.find((each) => each.path === path)
      return !existsSync(path) || (anchor !== undefined && !(linked && hasAnchor(linked, anchor)))
    })
    .map((target) => `${page.path}: ${target}`)
}

/** Whether a heading has this anchor, as GitHub makes them. */
function hasAnchor({ text }: Page, anchor: string): boolean {
  const titles = text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)
  return [...titles].some(([, title = '']) => {
    const words = title.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    return words.replaceAll(' ', '-') === anchor
  })
}
