import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import ts from 'typescript'

/** The layers from the lowest up, as in the table of `src/README.md`. */
const layers = [
  [
    'cache',
    'call-thread',
    'clock',
    'errors',
    'machine',
    'one-at-a-time',
    'plain-text',
    'random',
    'rounds',
    'row-texts',
    'setting-values',
    'signature',
    'text',
    'wording',
  ],
  ['config'],
  ['columns', 'names'],
  ['registry'],
  ['versions'],
  ['catalog'],
  ['control'],
  ['access'],
  ['query'],
  ['engine', 'sheet'],
  ['service', 'lists'],
  ['http', 'mcp', 'portal'],
  ['sales'],
  ['cli'],
  ['app', 'main', 'das'],
]

/**
 * The most lines of TypeScript and CSS (`wc -l`) in each folder of src. A number is lowered with
 * what gets lighter, and raised only with the reason in the commit.
 */
const weights: Readonly<Record<string, number>> = {
  access: 967,
  app: 2975,
  catalog: 2377,
  cli: 8696,
  columns: 1883,
  control: 8619,
  engine: 12_490,
  'files of src itself': 2025,
  http: 3766,
  lists: 1097,
  mcp: 2165,
  names: 1784,
  portal: 10_648,
  query: 4026,
  registry: 2340,
  sales: 10_029,
  service: 4628,
  sheet: 509,
  versions: 7174,
}
/** How far a folder may be below its number. */
const slackMax = 20

const linesMax = 300
const functionLinesMax = 60
const columnsMax = 100

interface LockedPackage {
  readonly integrity?: string
  readonly link?: boolean
  readonly gypfile?: boolean
}

interface Source {
  /** Relative to src. */
  readonly path: string
  readonly lines: readonly string[]
  /** The project's own files that it imports. */
  readonly imports: readonly string[]
}

const sources: readonly Source[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.c?ts$/.test(path))
  .sort()
  .map((path) => {
    const text = readFileSync(join('src', path), 'utf8')
    const targets = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
    const imports = targets.map(([, target = '']) =>
      normalize(join(dirname(path), target)).replace(/\.js$/, '.ts'),
    )
    return { path, lines: text.split('\n'), imports }
  })

const paths = sources.map(({ path }) => path)

function folderOf(path: string): string {
  return (path.split('/')[0] ?? '').replace(/\.c?ts$/, '')
}

function layerOf(path: string): number {
  return layers.findIndex((folders) => folders.includes(folderOf(path)))
}

const topLayer = layers.length - 1

/** `path:line` of every line that breaks a rule. */
function linesThat(breaks: (line: string, index: number, source: Source) => boolean): string[] {
  return sources.flatMap((source) =>
    source.lines.flatMap((line, index) =>
      breaks(line, index, source) ? [`${source.path}:${index + 1}: ${line.trim()}`] : [],
    ),
  )
}

await t.test('every file is in a layer', (t) => {
  t.ok(sources.length > 20)
  t.same(
    paths.filter((path) => layerOf(path) === -1),
    [],
  )
  t.end()
})

await t.test('a file imports from its own folder or a lower layer', (t) => {
  const wrong = sources.flatMap(({ path, imports }) =>
    imports
      .filter((target) => folderOf(target) !== folderOf(path) && layerOf(path) !== topLayer)
      .filter((target) => layerOf(target) >= layerOf(path))
      .map((target) => `${path} imports ${target}`),
  )
  t.same(wrong, [])
  const upward = sources
    .filter(({ path }) => path.startsWith('versions/files/'))
    .filter(({ imports }) => imports.some((target) => /^versions\/(store|forms)/.test(target)))
  t.same(upward, [], 'finding files does not depend on storing them')
  t.end()
})

/** The pages and the routes of sales. */
const salesRoutes = /^sales\/(account-\w+\.ts|\w+\/routes\/)/

await t.test('the rules of sales know no door: routes and pages are beside them', (t) => {
  const rules = sources.filter(({ path }) => path.startsWith('sales/') && !salesRoutes.test(path))
  t.ok(rules.length > 40)
  const wrong = rules.flatMap(({ path, imports }) =>
    imports
      .filter((target) => /^(query|engine|service|http|mcp|portal)\b/.test(target))
      .concat(imports.filter((target) => salesRoutes.test(target)))
      .map((target) => `${path} imports ${target}`),
  )
  t.same(wrong, [])
  t.end()
})

await t.test('no imports form a cycle', (t) => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail, path].join(' → '))
    if (done.has(path) || trail.includes(path)) return
    for (const target of byPath.get(path)?.imports ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const { path } of sources) visit(path, [])
  t.same(cycles, [])
  t.end()
})

await t.test(
  'DuckDB, SQLite, Fastify, MCP, mail and the command line stay in their folders',
  (t) => {
    const homes: Readonly<Record<string, readonly string[]>> = {
      '@duckdb/node-api': ['engine/duckdb/'],
      '@modelcontextprotocol/server': ['mcp/'],
      'better-sqlite3': ['control/', 'names/'],
      commander: ['cli/'],
      fastify: ['http/', 'mcp/', 'portal/', 'sales/'],
      nodemailer: ['sales/letters/'],
      pg: ['control/postgres/'],
    }
    const strangers = linesThat((line, _index, { path }) => {
      const own = homes[/^(?:import|export|\}) ?.* from '([^']+)'/.exec(line)?.[1] ?? '']
      const isHome = !own || own.some((home) => path.startsWith(home)) || layerOf(path) === topLayer
      return !isHome
    })
    t.same(strangers, [])
    t.end()
  },
)

await t.test('a file owns one idea: short, narrow, named exports, no state of its own', (t) => {
  const long = sources.filter(({ lines }) => lines.length > linesMax).map(({ path }) => path)
  t.same(long, [])
  t.same(
    linesThat((line) => [...line].length > columnsMax),
    [],
  )
  t.same(
    linesThat((line) => /^export default|^export \* from|^(export )?let /.test(line)),
    [],
  )
  t.same(
    paths.filter((path) => /(index|utils?|helpers?)\.ts$/.test(path)),
    [],
  )
  t.end()
})

await t.test('no function is longer than a screen', (t) => {
  const long = sources.flatMap(({ path, lines }) => {
    const file = ts.createSourceFile(path, lines.join('\n'), ts.ScriptTarget.Latest, true)
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line
      const length = lineOf(node.getEnd()) - lineOf(node.getStart()) + 1
      if (ts.isFunctionLike(node) && length > functionLinesMax) {
        found.push(`${path}:${lineOf(node.getStart()) + 1}: ${length} lines`)
      }
      ts.forEachChild(node, visit)
    }
    visit(file)
    return found
  })
  t.same(long, [])
  t.end()
})

await t.test('no folder of src gets heavier unnoticed', (t) => {
  const counted = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(c?ts|css)$/.test(path))
    .map((path) => ({
      folder: path.includes('/') ? (path.split('/')[0] ?? '') : 'files of src itself',
      lines: readFileSync(join('src', path), 'utf8').split('\n').length - 1,
    }))
  const lines: Record<string, number> = {}
  for (const { folder, lines: more } of counted) lines[folder] = (lines[folder] ?? 0) + more
  const names = Object.keys({ ...lines, ...weights })
  const grown = names.filter((name) => (lines[name] ?? 0) > (weights[name] ?? 0))
  t.same(grown, [], `make it lighter, or raise its number and say why: ${JSON.stringify(lines)}`)
  const shrunk = names.filter((name) => (weights[name] ?? 0) - (lines[name] ?? 0) > slackMax)
  t.same(shrunk, [], `lower its number: ${JSON.stringify(lines)}`)
  t.end()
})

await t.test('the environment is read only where the process is wired', (t) => {
  const wired = ['app.ts', 'main.ts', 'das.cts']
  const readers = linesThat(
    (line, _index, { path }) => line.includes('process.env') && !wired.includes(path),
  )
  t.same(readers, [])
  t.end()
})

/** What reads the machine's time, waits for it, or draws random numbers. */
const ofMachine = [
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.(now|timeOrigin)\b|\bhrtime\b/,
  /(?<![#.\w])(set|clear)(Timeout|Interval)\b|timers\/promises'|\bAbortSignal\.timeout\b/,
  /\bMath\.random\b|\brandom(Bytes|Int|UUID|Fill)\b|\bgetRandomValues\b/,
]

/** Where a process or a thread begins, and so which clock it has. */
const roots = /^(main|app\/(hash|pack)-worker|sheet\/sheet-worker)\.ts$/

/** What waits for native code, which works in the machine's time: disks and DuckDB. */
const natives = /^(versions\/hash-file\.ts|engine\/duckdb\/)/

await t.test('time and random numbers are parts, given where the process is wired', (t) => {
  const isOwn = (path: string) => /^(clock|random)\.ts$|^portal\/browser\//.test(path)
  const isTurn = (line: string) => /^import \{ setImmediate \}/.test(line)
  const users = linesThat(
    (line, _index, { path }) =>
      !isOwn(path) && !isTurn(line) && ofMachine.some((pattern) => pattern.test(line)),
  )
  t.same(users, [])
  const givers = linesThat(
    (line, _index, { path }) =>
      /\bmachine(Clock|Random)\b/.test(line) &&
      !isOwn(path) &&
      !roots.test(path) &&
      !(natives.test(path) && !line.includes('machineRandom')),
  )
  t.same(givers, [])
  t.end()
})

await t.test('every exported function says what it guarantees', (t) => {
  const silent = linesThat(
    (line, index, { lines }) =>
      /^export (async )?function/.test(line) && !(lines[index - 1] ?? '').endsWith('*/'),
  )
  t.same(silent, [])
  t.end()
})

await t.test('the code map lists the layers in order', (t) => {
  const map = readFileSync('src/README.md', 'utf8')
  const rows = [...map.matchAll(/^\| (\d+) +\| (.+?) \|/gm)]
  const folders = rows.map(([, , cell = '']) => [
    ...new Set([...cell.matchAll(/`([a-z-]+)[^`]*`/g)].map(([, folder]) => folder)),
  ])
  t.same(folders, layers)
  t.end()
})

await t.test('a clone is installed without a compiler, and every package has its hash', (t) => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>
  }
  const unsigned = Object.entries(packages)
    .filter(([path, { integrity, link }]) => /^node_modules/.test(path) && !integrity && !link)
    .map(([path]) => path)
  t.same(unsigned, [])
  // Without this line, which `npm install` drops, npm 10 and 11 run node-gyp for it.
  t.equal(packages['node_modules/better-sqlite3']?.gypfile, false, 'write "gypfile": false')
  t.end()
})
