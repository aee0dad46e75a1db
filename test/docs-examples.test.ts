import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import type { Test } from 'tap'
import { versionsFolderOf } from '../src/catalog.js'
import type { CliParts } from '../src/cli/parts.js'
import { buildProgram } from '../src/cli/program.js'
import { buildCliFixture } from './cli/fixtures/cli-fixture.js'
import type { CliFixture } from './cli/fixtures/cli-fixture.js'
import { logged } from './support/logged.js'
import { callTool } from './support/mcp/mcp-messages.js'
import { readDocument } from './support/openapi.js'
import {
  compactJson,
  curlRequest,
  httpRequest,
  isShown,
  learnIds,
  shellCommands,
  withActualIds,
} from './support/page-examples.js'
import type { ShownRequest } from './support/page-examples.js'
import { pageAt, pages } from './support/pages.js'
import type { Block, Page } from './support/pages.js'
import { startWorld } from './support/world.js'
import type { Answer, World } from './support/world.js'

// What README and docs show is what a reader gets: every request, command, registry and tool call
// is run over the shipped registry and data.

const demo = 'das_demo_opendata'
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}

/** A server, and a command line beside it, over copies of the shipped registry and data. */
interface Fixture {
  readonly world: World
  readonly cli: CliFixture
  /** The token that `$TOKEN` means: the last one that was sold. */
  token: string | null
  /** Ids as the page shows them → as they are here. */
  readonly ids: Map<string, string>
  /** How many requests were sent. */
  requests: number
}

const population = `SELECT country, year, population FROM (VALUES
  ('France', 2022, 68065015), ('France', 2023, 68287487),
  ('Germany', 2022, 83797985), ('Germany', 2023, 83280000)) t(country, year, population)`

/** Beside a packed one it takes that one's forms. */
async function startFixture(t: Test, packed?: Fixture): Promise<Fixture> {
  const registry = readFileSync('registry.yaml', 'utf8')
  const data = resolve('data')
  const files = { 'World Bank - population.parquet': population }
  const cli = await buildCliFixture(t, registry, files)
  cpSync(data, join(cli.folder, 'data'), { recursive: true })
  if (packed) {
    const [from = '', to = ''] = [packed.cli, cli].map(({ folder }) =>
      versionsFolderOf(join(folder, 'var')),
    )
    cpSync(from, to, { recursive: true })
  }
  const world = await startWorld(t, { at: cli.folder, files: {}, registry })
  // Otherwise a busy machine describes columns without what they hold.
  await world.app.prepare()
  if (!packed) await logged(world, '"packed"')
  return { world, cli, token: null, ids: new Map(), requests: 0 }
}

/** For pages that sell and change nothing. */
const shared = await startFixture(t)

const isTranscript = (text: string) => text.startsWith('→ ')

const isAnswer = ({ language, text }: Block) =>
  ['json', 'ndjson', 'csv'].includes(language) || text.startsWith('HTTP/')

const isRequest = (block: Block | undefined) =>
  block !== undefined && !isAnswer(block) && (block.language === 'http' || hasCurl(block))

const hasCurl = ({ language, text }: Block) => language === 'sh' && text.includes('curl ')

/** Whether a block needs a server; other commands are only parsed. */
const isAnswered = (block: Block) =>
  isRequest(block) || block.language === 'console' || isTranscript(block.text)

await t.test('commands that only a reader can run are known, with their options', async (t) => {
  for (const { path, blocks } of pages) {
    for (const { text, line } of blocks.filter(({ language }) => language === 'sh')) {
      for (const words of shellCommands(text)) await checkCommand(t, words, `${path}:${line}`)
    }
  }
})

for (const page of pages.filter(({ blocks }) => blocks.some(isAnswered))) {
  await t.test(`the examples of ${page.path} answer as printed`, async (t) => {
    const changes = page.blocks.some(({ language }) => language === 'console')
    const fixture = changes ? await startFixture(t, shared) : shared
    const home = process.cwd()
    process.chdir(fixture.cli.folder)
    try {
      for (const [index, block] of page.blocks.entries()) {
        await runBlock(t, fixture, block, answersAfter(page, index), `${page.path}:${block.line}`)
      }
    } finally {
      process.chdir(home)
    }
  })
}

/** The blocks right after a request that show its answer. */
function answersAfter({ blocks }: Page, index: number): readonly Block[] {
  if (!isRequest(blocks[index])) return []
  const after = blocks.slice(index + 1)
  const end = after.findIndex((block) => !block.isAdjacent || !isAnswer(block))
  return end === -1 ? after : after.slice(0, end)
}

async function runBlock(
  t: Test,
  fixture: Fixture,
  { language, text }: Block,
  answers: readonly Block[],
  at: string,
): Promise<void> {
  if (isTranscript(text)) return runTranscript(t, fixture, text, at)
  if (language === 'console') return runConsole(t, fixture, text, at)
  const variables = text.includes('$TOKEN') ? { TOKEN: await tokenOf(fixture) } : {}
  if (language === 'http') {
    const request = httpRequest(text, variables)
    if (request) compareAnswer(t, await send(fixture, request), answers, at)
    else t.match(text, /^HTTP\/1\.1 /, at)
  }
  if (language !== 'sh') return
  for (const words of shellCommands(text, variables)) {
    const request = words[0] === 'curl' ? curlRequest(words) : null
    if (request) compareAnswer(t, await send(fixture, request), answers, at)
  }
}

async function tokenOf(fixture: Fixture): Promise<string> {
  fixture.token ??= (await fixture.world.subscribe(['financials:start'])).token
  return fixture.token
}

/** Each request comes from its own address: the rate of the demo token is counted by address. */
async function send(
  fixture: Fixture,
  { method, url, headers, body }: ShownRequest,
): Promise<Answer> {
  const token = headers['authorization']?.replace(/^Bearer /, '') ?? demo
  for (;;) {
    fixture.requests += 1
    const answer = await fixture.world.get(url, token, {
      method: method as 'GET',
      headers,
      remoteAddress: `10.0.0.${fixture.requests}`,
      ...(body !== null && { body, headers: { 'content-type': 'application/json', ...headers } }),
    })
    // On a busy machine the facts of columns may be late; the answer then says so.
    if (!answer.text.includes('"profiled_rows":null')) return answer
  }
}

function compareAnswer(t: Test, answer: Answer, shown: readonly Block[], at: string): void {
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  const head = shown.find(({ language }) => language === 'http')
  const body = shown.find(({ language }) => language !== 'http')
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head?.text ?? '')?.[1]
  if (status !== undefined) t.equal(answer.status, Number(status), at)
  else if (!body?.text.includes('"error"')) t.equal(answer.status, 200, `${at}: ${answer.text}`)
  for (const line of head?.text.trim().split('\n').slice(1) ?? []) {
    const [name = '', value = ''] = line.split(': ')
    const actual = answer.headers[name.toLowerCase()]
    t.ok(isShown(String(actual), value), `${at}: ${line}, not ${String(actual)}`)
  }
  if (!body) return
  const compact = isJson ? compactJson : (text: string) => text.replaceAll('\r\n', '\n')
  if (!isShown(compact(answer.text), compact(body.text))) {
    t.equal(answer.text, body.text, `${at}: the page shows another answer`)
  }
}

/** Parses a `das` command with the program itself, and finds the script of an npm command. */
async function checkCommand(t: Test, words: readonly string[], at: string): Promise<void> {
  const start = words.findIndex((word) => !/^[A-Z_]+=/.test(word))
  const [program, ...rest] = words.slice(start)
  if (program === 'npm') {
    const name = rest[0] === 'run' ? rest[1] : rest[0]
    const isKnown = ['ci', 'install'].includes(name ?? '') || scripts[name ?? ''] !== undefined
    t.ok(isKnown, `${at}: npm ${rest.join(' ')}`)
  }
  const argv =
    program === 'das' ? rest : program === 'npx' && rest[0] === 'das' ? rest.slice(1) : null
  if (!argv) return
  const written: string[] = []
  const output = { write: (text: string) => written.push(text) }
  const parts = { version: '0', stdout: output, stderr: output } as unknown as CliParts
  const das = withoutActions(buildProgram(parts))
  await das.parseAsync(argv, { from: 'user' }).catch((cause: unknown) => {
    t.fail(`${at}: ${words.join(' ')}: ${String(cause)} ${written.join('')}`)
  })
}

function withoutActions(command: Command): Command {
  for (const each of command.commands) withoutActions(each)
  return command.commands.length === 0 ? command.action(() => undefined) : command
}

async function runConsole(t: Test, fixture: Fixture, text: string, at: string): Promise<void> {
  for (const [, line = '', shown = ''] of text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
    const [words = []] = shellCommands(withActualIds(fixture.ids, line))
    t.same(words.slice(0, 2), ['npx', 'das'], at)
    const { code, stdout, stderr } = await fixture.cli.das(words.slice(2), { isTerminal: true })
    t.equal(code, 0, `${at}: ${stderr}`)
    fixture.token = /das_live_[0-9A-Za-z]+/.exec(stdout)?.[0] ?? fixture.token
    learnIds(fixture.ids, shown, stdout)
    const expected = withActualIds(fixture.ids, shown)
    if (!isShown(stdout, expected)) t.equal(stdout, expected, `${at}: $ ${line}`)
    if (words[3] === 'add') await fixture.world.app.reload()
  }
}

async function runTranscript(t: Test, { world }: Fixture, text: string, at: string): Promise<void> {
  const calls = [...text.matchAll(/^→ (\w+) (\{.*\})\n← (.*(?:\n {2}.*)*)/gm)]
  t.ok(calls.length > 0, at)
  for (const [, tool = '', args = '', shown = ''] of calls) {
    const answer = await callTool(world, demo, tool, JSON.parse(args))
    if (!isShown(answer.text, shown.replaceAll('\n  ', '\n'))) {
      t.equal(answer.text, shown, `${at}: ${tool} ${args}`)
    }
  }
}

await t.test('every answer on the pages has its request before it', (t) => {
  const alone = pages.flatMap((page) => {
    const answers = page.blocks.flatMap((_, index) => answersAfter(page, index))
    return page.blocks
      .filter((block) => isAnswer(block) && !answers.includes(block))
      .filter(({ text }) => !text.includes('"mcpServers"'))
      .map(({ line }) => `${page.path}:${line}`)
  })
  t.same(alone, [])
  t.end()
})

await t.test('the page on REST lists every path of the OpenAPI document', async (t) => {
  const { paths } = await readDocument(shared.world, demo)
  const routes = Object.entries(paths).flatMap(([path, operations]) => {
    const methods = Object.keys(operations).filter((method) => ['get', 'post'].includes(method))
    const named = path.replace(/financials|procurement/, '<dataset>').replace(/\{(\w+)\}/g, '<$1>')
    return methods.map((method) => `${method.toUpperCase()} ${named}`)
  })
  t.ok(routes.length > 5)
  const section = pageAt('docs/rest.md').text.split('\n## ')[1] ?? ''
  const listed: readonly string[] = section.match(/(?:GET|POST) [^`\s]*[^`\s/]/g) ?? []
  t.same(new Set(routes.filter((route) => !listed.includes(route))), new Set())
})

await t.test('the configuration for AI agents is the same on each page', (t) => {
  const configurations = pages.flatMap(({ blocks }) =>
    blocks.filter(({ text }) => text.includes('"mcpServers"') && text.includes('"url"')),
  )
  t.equal(configurations.length, 2)
  t.equal(new Set(configurations.map(({ text }) => text)).size, 1)
  t.end()
})

await t.test('the pages show calls of every tool', (t) => {
  const calls = pages.flatMap(({ text }) => [...text.matchAll(/^→ (\w+)/gm)])
  t.equal(calls.length, 9)
  t.same(
    new Set(calls.map(([, tool]) => tool)),
    new Set(['list_resources', 'describe_resource', 'query', 'aggregate', 'top']),
  )
  t.end()
})

await t.test('the registries of the pages are valid, or have the mistake shown', async (t) => {
  const cli = await buildCliFixture(t)
  let count = 0
  for (const { path, blocks } of pages) {
    for (const [index, { language, text, line }] of blocks.entries()) {
      if (language !== 'yaml' || !text.startsWith('datasets:')) continue
      count += 1
      const after = blocks[index + 1]
      const mistake = after?.isAdjacent && after.language === 'text' ? after.text.trim() : null
      const file = join(cli.folder, 'example', 'registry.yaml')
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      const { stdout, stderr } = await cli.das(['dataset', 'check', '--registry', file])
      const printed = stdout + stderr
      if (mistake !== null) t.ok(printed.includes(mistake), `${path}:${line}: ${printed}`)
      else t.notMatch(printed, /registry\.yaml:\d/, `${path}:${line}`)
    }
  }
  t.equal(count, 2)
})
