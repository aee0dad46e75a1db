import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type {
  ColumnFacts,
  Damage,
  InspectFiles,
  InspectOrder,
  Inspection,
  KeyFacts,
} from '../../../versions/inspector.js'
import type { Version } from '../../../versions/version.js'
import { readFailure } from '../duckdb-failure.js'
import { PlainPaths } from '../plain-paths.js'
import { compileCount } from '../read/compile.js'
import { mayBeInfinite } from '../read/condition.js'
import { planCount } from '../read/pieces.js'
import type { RunStatement } from '../run-statement.js'
import { ServingInstance } from '../serving.js'
import { readFooters } from './inspect-footers.js'
import type { FooterColumn } from './inspect-footers.js'
import { countKeys } from './inspect-keys.js'
import { scanColumns } from './inspect-scan.js'
import type { ScannedColumn } from './scan-job.js'

/** Values that are read even where nobody asked for a deep look: it takes no time. */
const cheapCellsMax = 2_000_000

/** The catalog's inspector over DuckDB: a sandbox for this call alone, made anew when it breaks. */
export function duckDbInspector(memoryLimitBytes: number): InspectFiles {
  return async (order, { signal, report }) => {
    const tempFolder = await mkdtemp(join(tmpdir(), 'das-check-'))
    const folders = [...new Set(order.version.files.map(({ path }) => dirname(path)))]
    const threads = availableParallelism()
    const instance = new ServingInstance({ folders, tempFolder, memoryLimitBytes, threads })
    const run: RunStatement = (statement) => instance.run((session) => session.run(statement, signal))
    const plain = new PlainPaths()
    try {
      const version = plain.version(order.version)
      return await inspect({ ...order, version }, run, (done) =>
        report({ rowsDone: Math.floor(version.rows * done), rows: version.rows }),
      )
    } catch (cause) {
      throw plainError(plain.inOwnNames(cause), folders)
    } finally {
      plain.close()
      await instance.close()
      await rm(tempFolder, { recursive: true, force: true })
    }
  }
}

/** In words that an owner can use: no statement, no folder. */
function plainError(cause: unknown, folders: readonly string[]): unknown {
  const { type, text } = readFailure(cause)
  if (type === null) return cause
  const [line = ''] = text.split('\n')
  const words = folders.reduce((rest, folder) => rest.replaceAll(`${folder}/`, ''), line)
  const cure = type === 'Out of Memory' ? '; give it more: --memory-limit' : ''
  return new Error(`${words} (${type})${cure}`, { cause })
}

async function inspect(
  order: InspectOrder,
  run: RunStatement,
  report: (done: number) => void,
): Promise<Inspection> {
  const { version } = order
  const { files: footers, columns } = await readFooters(version, run)
  const { scanned, damages } = await scanColumns(version, scannedColumns(order), run, report)
  const keys = await keyFacts(order, damages, run)
  const isSound = damages.length === 0 && keys.damages.length === 0
  return {
    footers,
    columns: version.columns.map(({ source }) =>
      columnFacts(columns.get(source), scanned.get(source)),
    ),
    keys: keys.facts,
    subsetRows: isSound ? await countSubset(order, run) : null,
    damages: [...damages, ...keys.damages],
  }
}

function scannedColumns({ version, deep }: InspectOrder): Version['columns'] {
  if (deep) return version.columns
  const floating = version.columns.filter(mayBeInfinite)
  return version.rows * floating.length <= cheapCellsMax ? floating : []
}

/** Where counting fails, the key columns are read by themselves to find the file that did it. */
async function keyFacts(
  { version, countsKeys }: InspectOrder,
  known: readonly Damage[],
  run: RunStatement,
): Promise<{ readonly facts: KeyFacts | null; readonly damages: readonly Damage[] }> {
  if (!countsKeys || known.length > 0) return { facts: null, damages: [] }
  try {
    return { facts: await countKeys(version, run), damages: [] }
  } catch (cause) {
    const { damages } = await scanColumns(version, version.key, run, () => {})
    if (damages.length === 0) throw cause
    return { facts: null, damages }
  }
}

async function countSubset({ version, subset }: InspectOrder, run: RunStatement): Promise<number | null> {
  if (!subset) return null
  let rows = 0
  for (const piece of planCount(version, subset)) {
    rows += Number((await run(compileCount(piece, subset)))[0]?.[0])
  }
  return rows
}

/** What was read is exact; what the footers say stands where nothing was read. */
function columnFacts(
  footer: FooterColumn | undefined,
  scanned: ScannedColumn | undefined,
): ColumnFacts {
  const cutsNanoseconds = footer?.cutsNanoseconds ?? false
  if (scanned) {
    const { values, onlyValue, notFiniteRows, roundedRows, roundedExample } = scanned
    return {
      isEmpty: values === 0,
      onlyValue,
      notFiniteRows,
      rounded: roundedExample === null ? null : { rows: roundedRows, example: roundedExample },
      cutsNanoseconds,
    }
  }
  const example = footer?.roundedExample ?? null
  return {
    isEmpty: footer?.isEmpty ?? null,
    onlyValue: null,
    notFiniteRows: null,
    rounded: example === null ? null : { rows: null, example },
    cutsNanoseconds,
  }
}
