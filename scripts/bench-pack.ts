import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openReader } from '../src/app/reading.js'
import { readRegistry } from '../src/catalog.js'
import { filterPredicates } from '../src/columns/predicate.js'
import type { Version } from '../src/versions/version.js'
import type { DatasetReader } from '../src/cli/parts.js'
import { median } from './bench-charge/numbers.js'
import { readFlags, wholeNumber } from './command/flags.js'
import { runScript } from './command/run.js'

const help = `Usage: npm run bench:pack [-- options]

What packing costs and brings: makes accounts of so many companies, packs them with the built \`das\`,
and looks companies up in turns on the files as they were and on the packed ones.

  --companies N  about 6.65 rows each; 100000
  --source F     files that generate-financials.ts has made, instead of new ones
  --packed F     a folder packed from them before: then only look-ups are measured
  --lookups N    look-ups of each kind; 50
  --folder F     where files are made; the system's temporary folder
  --help         this text
`

const flags = {
  companies: { type: 'string', default: '100000' },
  source: { type: 'string' },
  packed: { type: 'string' },
  lookups: { type: 'string', default: '50' },
  folder: { type: 'string', default: tmpdir() },
  help: { type: 'boolean', default: false },
} as const

const lookUpsMax = 10_000
const memoryEveryMs = 100

async function writeRegistry(folder: string, source: string, packed: string): Promise<string> {
  const entry = (name: string, files: string) =>
    `  ${name}: {title: Statements, files: '${files}/*.parquet', key: [inn, year]}\n`
  const path = join(folder, 'registry.yaml')
  await writeFile(path, `datasets:\n${entry('before', source)}${entry('after', packed)}`)
  return path
}

/** The process's own high-water mark of memory in bytes, where the system tells; 0 elsewhere. */
function peakOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(text)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

async function pack(registry: string, packed: string): Promise<void> {
  const argv = ['dataset', 'pack', 'before', '--to', packed, '--no-switch']
  const child = spawn(process.execPath, ['dist/das.cjs', ...argv, '--registry', registry], {
    stdio: 'inherit',
  })
  let peakBytes = 0
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakOf(child.pid ?? 0))
  }, memoryEveryMs)
  const code = await new Promise((resolve) => child.on('close', resolve))
  clearInterval(watch)
  if (code !== 0) throw new Error(`das dataset pack ended with ${String(code)}`)
  console.log(`peak memory of the whole process: ${(peakBytes / 1e9).toFixed(2)} GB`)
}

interface Side {
  readonly reader: DatasetReader
  readonly version: Version
}

async function open(registry: string, dataset: string): Promise<Side> {
  const reader = await openReader(await readRegistry(registry), dataset, null)
  const found = reader.catalog.datasets.get(dataset)
  if (!found?.version) throw new Error(found?.reason ?? 'no version')
  return { reader, version: found.version }
}

/** One company's rows, all columns or five; how long it took, and the rows as text. */
async function lookUp({ reader, version }: Side, inn: string, columnsMax: number) {
  const [key] = version.key
  if (!key) throw new Error('no key')
  const question = {
    version,
    predicates: filterPredicates(key, 'eq', [inn]),
    columns: version.columns.slice(0, columnsMax),
    after: null,
    limit: 100,
  }
  const startedMs = performance.now()
  const signal = AbortSignal.timeout(60_000)
  const { rows } = await reader.engine.read(question, { signal, client: 'bench' })
  const ms = performance.now() - startedMs
  return {
    ms,
    text: rows
      .map(({ encoded }) => String(encoded))
      .sort()
      .join(),
  }
}

/** Existing companies from all over the data, the same ones every time. */
async function companies(side: Side, amount: number): Promise<readonly string[]> {
  const [key] = side.version.key
  const { reader, version } = side
  const inns: string[] = []
  for (let at = 0; at < amount; at += 1) {
    const file = (at * 3) % version.files.length
    const rows = version.files[file]?.rows ?? 1
    const row = Math.floor((((at + 1) * 0.618034) % 1) * (rows - 1))
    const after = { file, row }
    const question = { version, predicates: [], columns: key ? [key] : [], after, limit: 1 }
    const signal = AbortSignal.timeout(60_000)
    const found = await reader.engine.read(question, { signal, client: 'bench' })
    inns.push(String((JSON.parse(String(found.rows[0]?.encoded ?? '{}')) as { inn?: string }).inn))
  }
  return inns
}

async function measure(registry: string, amount: number): Promise<void> {
  const [before, after] = [await open(registry, 'before'), await open(registry, 'after')]
  try {
    const inns = await companies(before, amount)
    console.log(`\n${before.version.rows} rows; one company, median of ${amount} look-ups in turns`)
    console.log('columns      before ms   packed ms   times faster')
    for (const columnsMax of [5, before.version.columns.length]) {
      const times: { readonly before: number[]; readonly after: number[] } = {
        before: [],
        after: [],
      }
      for (const inn of [...inns.slice(0, 3), ...inns]) {
        const [old, now] = [
          await lookUp(before, inn, columnsMax),
          await lookUp(after, inn, columnsMax),
        ]
        if (old.text !== now.text || old.text === '') throw new Error(`other rows of ${inn}`)
        times.before.push(old.ms)
        times.after.push(now.ms)
      }
      // The first ones open what the others find open.
      const [old, now] = [median(times.before.slice(3)), median(times.after.slice(3))]
      const cells = [old.toFixed(1), now.toFixed(1), (old / now).toFixed(1)]
      console.log([String(columnsMax), ...cells].map((cell) => cell.padEnd(12)).join(''))
    }
  } finally {
    await before.reader.close()
    await after.reader.close()
  }
}

async function run(): Promise<void> {
  const values = readFlags(process.argv.slice(2), flags)
  if (values.help) return console.log(help)
  const lookUps = wholeNumber('--lookups', values.lookups, 1, lookUpsMax)
  const folder = await mkdtemp(join(values.folder, 'das-bench-pack-'))
  try {
    const source = resolve(values.source ?? join(folder, 'source'))
    const packed = resolve(values.packed ?? join(folder, 'packed'))
    await mkdir(source, { recursive: true })
    if (values.source === undefined) {
      const script = ['scripts/generate-financials.ts', '--companies', values.companies]
      const argv = ['--import', 'tsx', ...script, '--out', source]
      execFileSync(process.execPath, argv, { stdio: 'inherit' })
    }
    const registry = await writeRegistry(folder, source, packed)
    const isThere = (await stat(packed).catch(() => undefined)) !== undefined
    if (!isThere) await pack(registry, packed)
    await measure(registry, lookUps)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

await runScript('bench-pack', run)
