import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import t from 'tap'
import { findingTable } from '../src/cli/check/finding-table.js'
import type { CliParts } from '../src/cli/parts.js'
import { buildProgram } from '../src/cli/program.js'
import { typeOperators } from '../src/columns/column-types.js'
import { operators } from '../src/columns/operators.js'
import { settings } from '../src/config.js'
import { errorStatus } from '../src/errors.js'
import { DatasetEntrySchema } from '../src/registry/registry-schema.js'

const readme = readFileSync('README.md', 'utf8')

/** The rows of the table under a heading, as lists of cells. */
function tableAfter(text: string, page = readme): readonly (readonly string[])[] {
  const start = page.indexOf(text)
  const table =
    page
      .slice(start)
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

await t.test('the README lists every operator with its meaning, and no other', (t) => {
  t.same(
    tableAfter('### Filters').map(([name, meaning]) => [
      codes(name)[0],
      meaning?.replaceAll('`', ''),
    ]),
    Object.entries(operators).map(([name, { meaning }]) => [name, meaning]),
  )
  t.end()
})

await t.test('the README gives each type the operators that it has', (t) => {
  const rows = tableAfter('Which of them a column has').flatMap(([types, , names]) =>
    codes(types).map((type) => [type, codes(names)] as const),
  )
  t.same(Object.fromEntries(rows), typeOperators)
  t.end()
})

await t.test('the README lists every error code with its status, and no other', (t) => {
  t.same(
    tableAfter('### Errors').map(([status, code]) => [codes(code)[0], Number(status)]),
    Object.entries(errorStatus),
  )
  t.end()
})

await t.test('the README lists every key of a dataset in the registry, and no other', (t) => {
  const keys = tableAfter('A dataset needs a title').flatMap(([cell]) =>
    codes(cell).map((code) => code.split(':')[0]),
  )
  t.same([...keys].sort(), Object.keys(DatasetEntrySchema.properties).sort())
  t.end()
})

/** `usage`, `usage repair`, `token`, `token list` … */
function commandNames(command: Command, path: readonly string[] = []): readonly string[] {
  return command.commands.flatMap((each) => {
    const name = [...path, each.name()]
    return [name.join(' '), ...commandNames(each, name)]
  })
}

await t.test('the README lists every command, and no other', (t) => {
  const program = buildProgram({ version: '0', stdout: {}, stderr: {} } as unknown as CliParts)
  const groups = ['dataset', 'mail', 'subscription', 'token']
  const names = commandNames(program).filter((name) => !groups.includes(name))
  const listed = tableAfter('## Command line').map(([cell]) =>
    codes(cell)
      .join()
      .replace(/^das /, '')
      .replace(/ \[?[A-Z].*$/, ''),
  )
  t.same([...listed].sort(), [...names].sort())
  t.end()
})

await t.test('the README lists every setting with its default, and no other', (t) => {
  t.same(
    tableAfter('## Settings').map(([flag, variable, value, help]) => [
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
  const page = readFileSync('docs/dataset-check.md', 'utf8')
  t.same(
    tableAfter('# What', page).map(([code, level, meaning]) => [codes(code)[0], level, meaning]),
    Object.entries(findingTable).map(([code, { level, meaning }]) => [code, level, meaning]),
  )
  t.end()
})
