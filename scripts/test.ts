import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { globSync } from 'tinyglobby'
import { youngSpace } from './harness/process.js'
import { writeCurrentTest, writeGroups } from './test/groups.js'

const help = `Usage: npm test [-- FILE or FOLDER… and options of tap]

Compiles everything to .test/, one file each, and runs the tests there: a process that compiled for
itself what it imports would take four times as long to start.
  npm test                                     the everyday tests: all but test/io/
  npm run test:all                             all of them, with coverage of src/
  npm test -- test/query/parse-url.test.ts     one file
  npm test -- test/cli --bail                  a folder's, with an option of tap
  npm test -- --help                           this text`

const out = '.test'
/** Where tap lists the files that failed. */
const failed = join('.tap', 'failed')
const common = { format: 'esm', platform: 'node', target: 'node22', logLevel: 'warning' } as const
/** These need what Node does not bring, or measure time: scripts of their own run them. */
const special = ['test/browser/**', 'test/clients/**', 'test/night/**', 'test/scale/**']
/** Three for each job, so that the jobs end at about the same time. */
const groupCount = 9
/** They need real processes, disks, sockets, mail servers or load. */
const io = 'test/io/**'

async function compile(): Promise<void> {
  await rm(out, { recursive: true, force: true })
  await build({
    ...common,
    entryPoints: globSync(['{src,scripts,test}/**/*.ts']),
    outdir: out,
    outbase: '.',
    sourcemap: 'inline',
  })
  await Promise.all([bundleTypebox(), writeCurrentTest(out)])
  // The program reads its version from beside its folder.
  await copyFile('package.json', join(out, 'package.json'))
}

/**
 * Its 680 small files as a few, where Node looks first: loading them is what most tests would spend
 * most of their start on.
 */
async function bundleTypebox(): Promise<void> {
  const folder = join(out, 'node_modules', 'typebox')
  await build({
    ...common,
    entryPoints: {
      index: 'typebox',
      compile: 'typebox/compile',
      schema: 'typebox/schema',
      system: 'typebox/system',
      value: 'typebox/value',
    },
    outdir: folder,
    bundle: true,
    splitting: true,
  })
  const exports = { '.': './index.js', './*': './*.js' }
  const manifest = { name: 'typebox', type: 'module', exports }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
}

/**
 * Builds tap anew when it has the plugins that package.json leaves out, as after `npm ci`: those
 * for TypeScript and mocks cost each file more than a second of its start.
 */
async function leaveOutPlugins(): Promise<void> {
  const built = join('node_modules', '@tapjs', 'test', 'test-built', 'dist', 'esm', 'index.js')
  if ((await readFile(built, 'utf8')).includes('@tapjs/typescript')) await tap(['build'])
}

/** Runs tap; returns its exit code. */
async function tap(words: readonly string[], env = process.env): Promise<number> {
  const child = spawn(join('node_modules', '.bin', 'tap'), words, { stdio: 'inherit', env })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

async function runTap(given: readonly string[]): Promise<number> {
  const isTest = (word: string) => /^(\.\/)?test\//.test(word)
  const isAll = given.includes('--all')
  const ignore = isAll ? special : [...special, io]
  const testsIn = (word: string) => globSync(word.endsWith('.ts') ? word : `${word}/**/*.test.ts`)
  const files = given.some(isTest)
    ? given.filter(isTest).flatMap(testsIn)
    : globSync('test/**/*.test.ts', { ignore }).sort()
  if (files.length === 0) {
    console.error('No test file is there.')
    return 1
  }
  const options = given.filter((word) => !isTest(word) && word !== '--all')
  const coverage = isAll ? [] : ['--disable-coverage']
  const preload = pathToFileURL(resolve(out, 'scripts/test/lean-process.js')).href
  const nodeOptions = `${process.env['NODE_OPTIONS'] ?? ''} --import=${preload} ${youngSpace}`
  const compiled = files.map((file) => join(out, file.replace(/\.ts$/, '.js')))
  const isGrouped = (file: string) => compiled.length > groupCount && !file.includes('/test/io/')
  const groups = await writeGroups(out, compiled.filter(isGrouped), groupCount)
  const programs = [...groups, ...compiled.filter((file) => !isGrouped(file))]
  const env = {
    ...process.env,
    NODE_OPTIONS: nodeOptions,
    ...(isAll && { DAS_TEST_COVERAGE: '1' }),
  }
  // Files listed there would be the only ones that tap runs.
  await rm(failed, { force: true })
  const code = await tap([...coverage, ...options, `--save=${failed}`, ...programs], env)
  if (code !== 0) await showFailures()
  return code
}

/** Failures once more, at the end: the output of a whole run has tens of thousands of lines. */
async function showFailures(): Promise<void> {
  const list = await readFile(failed, 'utf8').catch(() => '')
  const files = list.split('\n').filter((file) => file !== '')
  if (files.length === 0) return
  await tap(['replay', '--disable-coverage', '--reporter=terse', ...files])
  console.log(`Failed:\n${files.join('\n')}`)
}

const given = process.argv.slice(2)
if (given.includes('--help')) console.log(help)
else {
  await Promise.all([compile(), leaveOutPlugins()])
  process.exitCode = await runTap(given)
}
