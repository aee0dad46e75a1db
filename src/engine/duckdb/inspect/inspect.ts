import { availableParallelism } from 'node:os'
import type {
  InspectedColumn,
  InspectFiles,
  InspectOrder,
  Inspection,
} from '../../../versions/inspector.js'
import { machineClock } from '../../../clock.js'
import type { Version } from '../../../versions/version.js'
import { chooseFiles } from '../choice.js'
import { readFailure } from '../duckdb-failure.js'
import { foldersOf } from '../paths.js'
import { compileCount } from '../read/compile.js'
import { duckdb } from '../dialect.js'
import { planCount } from '../read/pieces.js'
import type { RunStatement } from '../run-statement.js'
import { withTempFolder } from '../sandbox.js'
import { ServingInstance } from '../serving.js'
import { readFooters } from './inspect-footers.js'
import type { FooterColumn } from './inspect-footers.js'
import { countKeys } from './inspect-keys.js'
import { scanColumns } from './inspect-scan.js'
import type { ScannedColumn } from './inspect-scan.js'

/** Up to this many values are read even without `deep`: it takes no noticeable time. */
const cheapCellsMax = 2_000_000

/** Finds unusual content in the files of a version, for their owner. */
export function duckDbInspector(memoryLimitBytes: number): InspectFiles {
  return async (order, { signal, report }) => {
    const folders = foldersOf(order.version.files.map(({ path }) => path))
    const threads = availableParallelism()
    try {
      return await withTempFolder('das-check-', async (tempFolder, plain) => {
        const serving = new ServingInstance({
          clock: machineClock,
          folders,
          tempFolder,
          memoryLimitBytes,
          threads,
        })
        const run: RunStatement = (statement) =>
          serving.run((session) => session.run(statement, signal))
        const version = plain.version(order.version)
        try {
          return await inspect({ ...order, version }, run, (done) =>
            report({ rowsDone: Math.floor(version.rows * done), rows: version.rows }),
          )
        } finally {
          await serving.close()
        }
      })
    } catch (cause) {
      throw ownerError(cause, folders)
    }
  }
}

/** The error as the owner reads it, without statements and folders. */
function ownerError(cause: unknown, folders: readonly string[]): unknown {
  const { type, text } = readFailure(cause)
  if (type === null) return cause
  const [line = ''] = text.split('\n')
  const words = folders.reduce((rest, folder) => rest.replaceAll(`${folder}/`, ''), line)
  const advice = type === 'Out of Memory' ? '; give it more memory with --memory-limit' : ''
  return new Error(`${words} (${type})${advice}`, { cause })
}

async function inspect(
  order: InspectOrder,
  run: RunStatement,
  report: (done: number) => void,
): Promise<Inspection> {
  const { version } = order
  const { rowGroups, columns } = await readFooters(version, run)
  const scanned = await scanColumns(version, columnsToScan(order), run, report)
  return {
    rowGroups,
    columns: version.columns.map(({ source }) =>
      inspectedColumn(columns.get(source), scanned.get(source)),
    ),
    keys: order.countsKeys ? await countKeys(version, run) : null,
    subsetRows: await countSubset(order, run),
  }
}

function columnsToScan({ version, deep }: InspectOrder): Version['columns'] {
  if (deep) return version.columns
  const floating = version.columns.filter(duckdb.mayBeInfinite)
  return version.rows * floating.length <= cheapCellsMax ? floating : []
}

async function countSubset(
  { version, subset }: InspectOrder,
  run: RunStatement,
): Promise<number | null> {
  if (!subset) return null
  let rows = 0
  for (const piece of planCount(chooseFiles(version, subset))) {
    rows += Number((await run(compileCount(piece, subset)))[0]?.[0])
  }
  return rows
}

/** Results of the scan are exact; the footers describe columns that were not scanned. */
function inspectedColumn(
  footer: FooterColumn | undefined,
  scanned: ScannedColumn | undefined,
): InspectedColumn {
  if (scanned) {
    const { values, notFiniteRows, roundedRows, roundedExample } = scanned
    return {
      isEmpty: values === 0,
      notFiniteRows,
      rounded: roundedExample === null ? null : { rows: roundedRows, example: roundedExample },
    }
  }
  const example = footer?.roundedExample ?? null
  return {
    isEmpty: footer?.isEmpty ?? null,
    notFiniteRows: null,
    rounded: example === null ? null : { rows: null, example },
  }
}
