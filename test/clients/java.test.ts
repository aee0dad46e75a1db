import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { tools } from '../../src/mcp/tools.js'
import { readsAll, startEverything } from './fixtures/everything.js'
import type { ReadByClient } from './fixtures/everything.js'
import { keptBuild } from './fixtures/kept-build.js'

// Guarantee: a client in Java that is generated from the document reads every cell as it was sent,
// and the MCP client of Java calls every tool.

const run = promisify(execFile)

/** The classes of both programs and of all that pom.xml pins. */
async function buildClients(document: string): Promise<string> {
  const folder = await keptBuild('test/clients/java', document, (folder) =>
    run('mvn', ['--quiet', '--batch-mode', 'compile'], { cwd: folder, maxBuffer: 2 ** 26 }),
  )
  const target = join(folder, 'target')
  return `${join(target, 'classes')}:${readFileSync(join(target, 'classpath.txt'), 'utf8')}`
}

/** What a program prints. Until Java 18 the generated client reads the locale's letters. */
async function runClass(classes: string, name: string, base: string, token: string) {
  const { stdout, stderr } = await run(
    'java',
    [
      '-Dfile.encoding=UTF-8',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-cp',
      classes,
      name,
      base,
    ],
    { env: { PATH: process.env['PATH'], DAS_TOKEN: token }, maxBuffer: 2 ** 26 },
  )
  return { printed: JSON.parse(stdout) as unknown, log: stderr }
}

/** The text of an answer and its content as JSON. */
interface ToolAnswer {
  readonly described: boolean
  readonly failed: boolean
  readonly structured: unknown
  readonly text: unknown
}

/** What Java makes of each type. */
const types = {
  ...{ tiny: 'Integer', small: 'Integer', int: 'Integer', utiny: 'Integer', usmall: 'Integer' },
  ...{ big: 'Long', uint: 'Long', ubig: 'String', single: 'Float', double: 'Double' },
  ...{ money: 'Double', sum: 'Double', wide: 'Double', flag: 'Boolean', words: 'String' },
  ...{ big_text: 'String', sum_text: 'String', wide_text: 'String' },
  ...{ id: 'UUID', day: 'LocalDate', zoned: 'OffsetDateTime', bytes: 'String' },
  ...{ clock: 'String', second: 'String', milli: 'String', micro: 'String', nano: 'String' },
  ...{ gap: 'String', list: 'Object', struct: 'Object', map: 'Object', tree: 'Object' },
}

await t.test('openapi-generator', async (t) => {
  const { base, token, document } = await startEverything(t)
  const classes = await buildClients(document)
  const { printed } = await runClass(classes, 'GeneratedClient', base, token)
  readsAll(t, printed as ReadByClient, types)
})

await t.test('the MCP client of Java', async (t) => {
  const { base, token, document } = await startEverything(t)
  const classes = await buildClients(document)
  const { printed, log } = await runClass(classes, 'ToolsClient', base, token)
  const answers = printed as Readonly<Record<string, ToolAnswer>>
  t.same(log, '', 'no warning')
  t.same(Object.keys(answers), tools.map(({ name }) => name).sort())
  for (const [name, { structured, text, ...rest }] of Object.entries(answers)) {
    t.same(rest, { described: true, failed: false }, name)
    t.same(structured, text, `${name}: checked by its output schema`)
  }
  t.match(answers['aggregate']?.text, { columns: ['count'], rows: 1899 })
})
