import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { globSync } from 'tinyglobby'

const help = `Usage: npm test [-- FILE… and options of tap]

Compiles everything to .test/, one file each, and runs the tests there: a process that compiled for
itself what it imports would take four times as long to start.
  npm test                                     the everyday tests, with coverage of src/
  npm test -- test/query/parse-url.test.ts     one file
  npm test -- --disable-coverage test/cli/*.test.ts
  npm test -- --help                           this text`

const out = '.test'
/** These need what Node does not bring: `test:clients` and `test:browser` run them. */
const special = ['test/browser/**', 'test/clients/**']

async function compile(): Promise<void> {
  await rm(out, { recursive: true, force: true })
  await build({
    entryPoints: globSync(['{src,scripts,test}/**/*.ts']),
    outdir: out,
    outbase: '.',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
  })
  // The program reads its version from beside its folder.
  await copyFile('package.json', join(out, 'package.json'))
}

async function runTap(given: readonly string[]): Promise<number> {
  const everyday = () => globSync('test/**/*.test.ts', { ignore: special }).sort()
  const isTest = (word: string) => word.endsWith('.test.ts')
  const files = given.some(isTest) ? given.filter(isTest) : everyday()
  const compiled = files.map((file) => join(out, file.replace(/\.ts$/, '.js')))
  const options = given.filter((word) => !isTest(word))
  const child = spawn(join('node_modules', '.bin', 'tap'), [...options, ...compiled], {
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

const given = process.argv.slice(2)
if (given.includes('--help')) console.log(help)
else {
  await compile()
  process.exitCode = await runTap(given)
}
