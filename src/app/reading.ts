import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { openCatalog } from '../catalog.js'
import type { Reader } from '../cli/parts.js'
import { DuckDbEngine } from '../engine/duckdb/duckdb-engine.js'
import type { EngineOptions } from '../engine/duckdb/duckdb-engine.js'
import { duckDbInspector } from '../engine/duckdb/inspect/inspect.js'
import { duckDbOpener } from '../engine/duckdb/open/open-files.js'
import { duckDbGain } from '../engine/duckdb/pack/measure-gain.js'
import type { Registry } from '../registry/registry.js'
import type { InspectFiles } from '../versions/inspector.js'
import type { OpenFiles } from '../versions/opener.js'
import type { MeasurePackGain } from '../versions/pack-gain.js'
import type { FileChecks } from '../versions/store/file-checks.js'
import { CleanupStack } from './cleanup-stack.js'

const memoryShare = 0.6
const openerMemoryShare = 0.25
const queueMax = 256
/** With the time that a query then runs, less than a minute, which proxies and MCP clients wait. */
const waitMaxMs = 30_000

export interface EngineSettings {
  /** The only folders that are read. */
  readonly folders: readonly string[]
  /** For what does not fit in memory. */
  readonly tempFolder: string
  readonly memoryLimitBytes: number
  /** Queries at once; null = as many as cores. */
  readonly slots: number | null
  /** Told of versions that must not be read any more. */
  readonly withdraw?: NonNullable<EngineOptions['withdraw']>
  /** Where files are read only once they are verified. */
  readonly checks?: FileChecks
}

/** The engine over these folders, with a bounded queue before it. */
export function openEngine({ slots, ...room }: EngineSettings): Promise<DuckDbEngine> {
  const cores = availableParallelism()
  return DuckDbEngine.open({ ...room, threads: cores, slots: slots ?? cores, queueMax, waitMaxMs })
}

/** Opens Parquet files beside an engine of this much memory; null = as much as by default. */
export function openerFor(memoryLimitBytes: number | null): OpenFiles {
  return duckDbOpener(Math.floor((memoryLimitBytes ?? defaultMemory()) * openerMemoryShare))
}

/** Looks into opened Parquet files beside an engine of this much memory; null = as by default. */
export function inspectorFor(memoryLimitBytes: number | null): InspectFiles {
  return duckDbInspector(Math.floor((memoryLimitBytes ?? defaultMemory()) * openerMemoryShare))
}

/** Measures what packing would bring, in an engine of this much memory; null = by default. */
export function gainFor(memoryLimitBytes: number | null): MeasurePackGain {
  return duckDbGain(Math.floor((memoryLimitBytes ?? defaultMemory()) * openerMemoryShare))
}

/**
 * Opens one dataset where its files lie, to read it beside the server; where that can't be, it has
 * a reason. Of the others the catalog knows what the registry says.
 */
export async function openReader(
  registry: Registry,
  dataset: string,
  memoryLimitBytes: number | null,
): Promise<Reader> {
  const options = { openFiles: openerFor(memoryLimitBytes), versionsFolder: null }
  const catalog = await openCatalog(registry, options, dataset)
  const files = catalog.datasets.get(dataset)?.version?.files ?? []
  const closers = new CleanupStack()
  const temp = closers.add(await mkdtemp(join(tmpdir(), 'das-read-')), (path) =>
    rm(path, { recursive: true, force: true }),
  )
  try {
    const engine = await openEngine({
      folders: [...new Set(files.map(({ path }) => dirname(path)))],
      tempFolder: temp,
      memoryLimitBytes: Math.floor((memoryLimitBytes ?? defaultMemory()) * openerMemoryShare),
      slots: 1,
    })
    closers.add(engine, (each) => each.close())
    return { catalog, engine, close: () => closers.close() }
  } catch (cause) {
    await closers.close()
    throw cause
  }
}

/** Bytes of memory for the engine: a share of what this process may use, the cgroup's limit where there is one, else the machine's. */
export function defaultMemory(): number {
  const limit = process.constrainedMemory()
  return Math.floor((limit > 0 && limit < totalmem() ? limit : totalmem()) * memoryShare)
}
