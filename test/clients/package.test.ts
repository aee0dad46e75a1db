import { once } from 'node:events'
import { execFile, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { bareMachine } from '../../scripts/harness/bare-machine.js'
import type { Tools } from '../../scripts/harness/bare-machine.js'
import { writeParquet } from '../support/world.js'

// Needs the npm registry, for what is not bundled: DuckDB and SQLite.

interface LockedPackage {
  readonly version: string
  readonly dev?: boolean
  readonly inBundle?: boolean
}

const run = promisify(execFile)
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Readonly<Record<string, LockedPackage>>
}
const folder = t.testdir({})

/** The environment of a shell, without what tap and `npm test` add for their own processes. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const added = /^(NODE_OPTIONS|UV_THREADPOOL_SIZE|TAP.*|npm_(?!config_).*|npm_config_.*prefix)$/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !added.test(name)))
}

/** Runs a program to its end. @throws Error with its output if it fails */
async function output(cwd: string, program: string, argv: readonly string[], env = {}) {
  const options = { cwd, env: { ...cleanEnvironment(), ...env }, maxBuffer: 1e8 }
  return (await run(program, argv, options)).stdout
}

/** The tracked files of this tree with its installed packages: a clone after `npm ci`. */
async function cloneTree(): Promise<string> {
  const clone = join(folder, 'clone')
  const files = (await output('.', 'git', ['ls-files', '-z'])).split('\0').filter(existsSync)
  for (const file of files) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    copyFileSync(file, join(clone, file))
  }
  await output('.', 'cp', ['-al', 'node_modules', join(clone, 'node_modules')])
  return clone
}

const clone = await cloneTree()
await output(clone, 'npm', ['pack', '--pack-destination', folder])
const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
const packed = (await output(folder, 'tar', ['-tzf', tarball])).trimEnd().split('\n')
const inside = packed.map((path) => path.replace(/^package\//, ''))

await t.test('the package holds the built program, docs, licences and its packages', (t) => {
  const own = inside.filter((path) => !path.startsWith('node_modules/'))
  const single = /^package\.json$|^(README|CHANGELOG|SECURITY)\.md$|^LICENSE$/
  const program = /^dist\/(das\.cjs|[\w-]+\.js|third-party-licenses\.txt)$/
  const portal = /^dist\/portal\/(dataset|list|page|portal|reference)-\w+\.(js|css)$/
  const docs = /^docs\/([\w-]+\.md|screenshots\/[\w-]+\.png|(deploy|monitoring)\/[\w.-]+)$/
  const others = own.filter(
    (path) => ![single, program, portal, docs].some((each) => each.test(path)),
  )
  t.same(others, [])
  for (const path of ['dist/das.cjs', 'dist/main.js', 'docs/operating.md', 'LICENSE']) {
    t.ok(own.includes(path), path)
  }
  const bundled = inside.flatMap(
    (path) => /^node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [],
  )
  for (const path of new Set(bundled)) t.equal(lock.packages[path]?.dev, undefined, path)
  t.end()
})

await t.test('every package that the program uses has its licence in the list', (t) => {
  const text = readFileSync(join(clone, 'dist/third-party-licenses.txt'), 'utf8')
  for (const name of ['better-sqlite3', '@duckdb/node-api', 'fastify', 'typebox', 'yaml']) {
    const { version } = lock.packages[`node_modules/${name}`] ?? {}
    t.ok(text.includes(`${name} ${version}\n`), name)
  }
  t.notMatch(text, /^(typescript|tap|esbuild) \d/m)
  t.end()
})

/** The environment of a machine that has these, and no compiler. */
async function machineWith(tools: Tools): Promise<NodeJS.ProcessEnv> {
  return { PATH: await bareMachine(join(folder, `node-${tools.node}`), tools) }
}

/** Starts `das serve` in a folder; resolves to its address. */
function serve(t: Test, das: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(das, ['serve', '--port', '0'], {
    cwd,
    env: { ...cleanEnvironment(), ...env },
  })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return new Promise((resolve, reject) => {
    let log = ''
    const read = (text: string) => {
      log += text
      const base = /Server listening at (http:\/\/[\d.:]+)/.exec(log)?.[1]
      if (base !== undefined) resolve(base)
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    child.on('close', () => reject(new Error(log)))
  })
}

const newest: Tools = { node: '24.21.0', npm: '12.2.2' }
const oldest: Tools = { node: '22.23.2', npm: '10.9.9' }
/** `npm run check:night -- --only clients` tries both. */
const machines = process.env['CLIENTS_WHOLE'] === undefined ? [newest] : [oldest, newest]

for (const tools of machines) {
  const title = `installed with npm ${tools.npm} on Node.js ${tools.node}, it serves a folder`
  await t.test(title, async (t) => {
    const env = await machineWith(tools)
    const prefix = join(folder, `prefix-${tools.node}`)
    const options = ['--global', '--prefix', prefix]
    await output(
      folder,
      join(env['PATH'] ?? '', 'npm'),
      ['install', ...options, join(folder, tarball)],
      env,
    )

    const installed = join(prefix, 'lib', 'node_modules', 'dataset-access-service')
    const pinned = Object.entries(lock.packages).filter(([, { inBundle }]) => inBundle)
    t.ok(pinned.length > 50)
    for (const path of [...pinned.map(([name]) => name), 'node_modules/@duckdb/node-api']) {
      const text = readFileSync(join(installed, path, 'package.json'), 'utf8')
      const { version } = JSON.parse(text) as { version: string }
      t.equal(version, lock.packages[path]?.version, path)
    }

    const place = join(folder, `place-${tools.node}`)
    mkdirSync(place)
    await writeParquet(place, { 'cities.parquet': "SELECT 'Oslo' AS city, 717710 AS people" })
    const das = join(prefix, 'bin', 'das')
    t.match(await output(place, das, ['init'], env), 'Added 1 dataset.')
    const base = await serve(t, das, place, env)
    const sell = ['subscription', 'create', '--email', 'a@b.example', '--plan', 'cities:free']
    const sold = JSON.parse(await output(place, das, [...sell, '--json'], env)) as { token: string }
    const headers = { authorization: `Bearer ${sold.token}` }
    const answer = await fetch(`${base}/v1/cities?city=eq.Oslo`, { headers })
    t.same(await answer.json(), { data: [{ city: 'Oslo', people: 717710 }], next_cursor: null })
    const page = await fetch(`${base}/`)
    t.equal(page.status, 200, 'the portal')
    t.match(await output(place, das, ['audit'], env), /dataset\.added\tcities\t/)
  })
}

await t.test('an older Node.js says in one line what das needs', async (t) => {
  const env = await machineWith({ node: '20.20.2', npm: '10.9.9' })
  const das = join(clone, 'dist', 'das.cjs')
  const failure: unknown = await output(folder, das, ['serve'], env).catch(
    (error: unknown) => error,
  )
  t.match(failure, {
    code: 1,
    stdout: '',
    stderr:
      'error: das needs Node.js 22.15 or newer, and this is 20.20.2. Install a newer one; in a ' +
      'clone, "npm start" and "npx das" bring their own.\n',
  })
})
