import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { generate, pack, statements } from './bench/bench-data.js'
import { lookUp, openDataset } from './bench/read-dataset.js'
import type { OpenDataset } from './bench/read-dataset.js'
import { makeFixture, makeFolder, requireBuild, writeRegistry } from './harness/fixture.js'
import type { Fixture } from './harness/fixture.js'
import { optionalText, text, whole } from './harness/options.js'
import { memoryOf } from './harness/process.js'
import { textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { median } from './harness/statistics.js'

const command = {
  name: 'bench-pack',
  usage: 'npm run bench:pack --',
  about: `Measures what packing costs and gains: makes statements of so many companies, packs them with the
built das, and looks companies up in turns in the original files and in the packed ones.`,
  options: {
    companies: whole('about 6.65 rows each', 100_000, 1, 100_000_000),
    source: optionalText('files that generate-financials.ts has made, instead of new ones'),
    packed: optionalText('a folder packed from them before: then only look-ups are measured'),
    lookups: whole('look-ups of each kind', 50, 1, 10_000),
    folder: text('where files are made', tmpdir()),
  },
}

const rowsMax = 100
const memoryEveryMs = 100
/** The first look-ups open what the later ones find open; they are not counted. */
const warmUps = 3

/** Packs the dataset `before`, and prints the high-water mark of the process's memory. */
async function packAndWatch(fixture: Fixture, packed: string, run: Run): Promise<void> {
  let peakBytes = 0
  let watch: NodeJS.Timeout | undefined
  await pack(fixture, 'before', ['--to', packed], run.cleanup, (child) => {
    watch = setInterval(() => {
      peakBytes = Math.max(peakBytes, memoryOf(child, 'VmHWM'))
    }, memoryEveryMs)
  }).finally(() => clearInterval(watch))
  run.print(`peak memory of the whole process: ${(peakBytes / 1e9).toFixed(2)} GB\n`)
}

/** One company's rows as text, in no order, and how long they took. */
async function lookUpText(dataset: OpenDataset, inn: string, columnsMax: number) {
  const columns = dataset.version.columns.slice(0, columnsMax)
  const { ms, rows } = await lookUp(dataset, [inn], columns, rowsMax)
  const texts = rows.map(({ encoded }) => String(encoded))
  return { ms, text: texts.sort().join() }
}

/** Companies from all over the data, the same ones in every run. */
async function companiesOf({ reader, version }: OpenDataset, amount: number) {
  const [key] = version.key
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

/** The medians of look-ups in turns. @throws Error when both find different rows */
async function compare(
  before: OpenDataset,
  after: OpenDataset,
  inns: readonly string[],
  columnsMax: number,
): Promise<readonly [beforeMs: number, afterMs: number]> {
  const [beforeMs, afterMs]: [number[], number[]] = [[], []]
  for (const inn of [...inns.slice(0, warmUps), ...inns]) {
    const original = await lookUpText(before, inn, columnsMax)
    const packed = await lookUpText(after, inn, columnsMax)
    const isSame = original.text === packed.text && original.text !== ''
    if (!isSame) throw new Error(`the rows of ${inn} differ`)
    beforeMs.push(original.ms)
    afterMs.push(packed.ms)
  }
  return [median(beforeMs.slice(warmUps)), median(afterMs.slice(warmUps))]
}

async function measure(registry: string, amount: number, run: Run): Promise<void> {
  const before = await openDataset(registry, 'before')
  run.cleanup.add(() => before.reader.close())
  const after = await openDataset(registry, 'after')
  run.cleanup.add(() => after.reader.close())
  const inns = await companiesOf(before, amount)
  const rows: string[][] = []
  for (const columnsMax of [5, before.version.columns.length]) {
    const [beforeMs, afterMs] = await compare(before, after, inns, columnsMax)
    const figures = [beforeMs, afterMs, beforeMs / afterMs].map((figure) => figure.toFixed(1))
    rows.push([String(columnsMax), ...figures])
  }
  const about = `one company, median of ${amount} look-ups in turns`
  const titles = ['columns', 'before ms', 'packed ms', 'times faster']
  run.print(`\n${before.version.rows} rows; ${about}\n${textTable(titles, rows)}`)
}

await runScript(command, async (options, run) => {
  requireBuild()
  const folder = await makeFolder(run, 'bench-pack', { parent: options.folder })
  const source = resolve(options.source ?? join(folder, 'source'))
  const packed = resolve(options.packed ?? join(folder, 'packed'))
  if (options.source === null) await generate(options.companies, source, run.cleanup)
  const isPacked = (await stat(packed).catch(() => undefined)) !== undefined
  await writeRegistry(folder, { before: statements(source), after: statements(packed) })
  if (!isPacked) await packAndWatch(await makeFixture(folder), packed, run)
  await measure(join(folder, 'registry.yaml'), options.lookups, run)
})
