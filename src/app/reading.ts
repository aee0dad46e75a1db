import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { openCatalog } from '../catalog.js'
import type { Catalog } from '../catalog.js'
import { DuckDbEngine } from '../engine/duckdb/duckdb-engine.js'
import type { EngineOptions } from '../engine/duckdb/duckdb-engine.js'
import { duckDbInspector } from '../engine/duckdb/inspect/inspect.js'
import { duckDbOpener } from '../engine/duckdb/open/open-files.js'
import { duckDbGain } from '../engine/duckdb/pack/measure-gain.js'
import type { Registry } from '../registry/registry.js'
import type { InspectFiles } from '../versions/inspector.js'
import type { OpenFiles } from '../versions/opener.js'
import type { MeasurePackGain } from '../versions/packing/packer.js'
import type { FileChecks } from '../versions/store/file-checks.js'
import { CleanupStack } from './cleanup-stack.js'

const memoryShare = 0.6
/** A share for work beside a server's engine. */
const smallMemoryShare = 0.25
const queueMax = 256
/** This and a query's own time are less than a minute, the limit of proxies and MCP clients. */
const waitMaxMs = 30_000

export interface EngineSettings {
  /** The engine reads no other folders. */
  readonly folders: readonly string[]
  /** For data that does not fit in memory. */
  readonly tempFolder: string
  readonly memoryLimitBytes: number
  /** Concurrent queries; null = as many as cores. */
  readonly slots: number | null
  /** Called with versions that must not be read any more. */
  readonly withdraw?: NonNullable<EngineOptions['withdraw']>
  /** With it, only verified files are read. */
  readonly checks?: FileChecks
}

/** Opens the engine over these folders, with a bounded queue. */
export function openEngine({ slots, ...settings }: EngineSettings): Promise<DuckDbEngine> {
  const cores = availableParallelism()
  return DuckDbEngine.open({
    ...settings,
    threads: cores,
    slots: slots ?? cores,
    queueMax,
    waitMaxMs,
  })
}

/** Opens Parquet files with a share of this memory; null = the default. */
export function openerFor(memoryLimitBytes: number | null): OpenFiles {
  return duckDbOpener(smallShare(memoryLimitBytes))
}

/** Inspects opened Parquet files with a share of this memory; null = the default. */
export function inspectorFor(memoryLimitBytes: number | null): InspectFiles {
  return duckDbInspector(smallShare(memoryLimitBytes))
}

/** Measures the gain of packing with a share of this memory; null = the default. */
export function gainFor(memoryLimitBytes: number | null): MeasurePackGain {
  return duckDbGain(smallShare(memoryLimitBytes))
}

/** A dataset that can be read without a server. */
interface OpenDataset {
  readonly catalog: Catalog
  readonly engine: DuckDbEngine
  readonly close: () => Promise<void>
}

/**
 * Opens one dataset in the place of its files, to read it beside the server. A dataset that can't
 * be opened has a reason. The catalog lists the other datasets unopened.
 */
export async function openReader(
  registry: Registry,
  dataset: string,
  memoryLimitBytes: number | null,
): Promise<OpenDataset> {
  const options = { openFiles: openerFor(memoryLimitBytes), versionsFolder: null }
  const catalog = await openCatalog(registry, options, dataset)
  const files = catalog.datasets.get(dataset)?.version?.files ?? []
  const cleanup = new CleanupStack()
  const temp = cleanup.adopt(await mkdtemp(join(tmpdir(), 'das-read-')), (path) =>
    rm(path, { recursive: true, force: true }),
  )
  try {
    const engine = await openEngine({
      folders: [...new Set(files.map(({ path }) => dirname(path)))],
      tempFolder: temp,
      memoryLimitBytes: smallShare(memoryLimitBytes),
      slots: 1,
    })
    cleanup.use(engine)
    return { catalog, engine, close: () => cleanup.close() }
  } catch (cause) {
    await cleanup.close()
    throw cause
  }
}

/** Bytes for this much memory's small share; null = of the default. */
export function smallShare(memoryLimitBytes: number | null): number {
  return Math.floor((memoryLimitBytes ?? defaultMemory()) * smallMemoryShare)
}

/** Bytes of memory for the engine: a share of the cgroup's limit, else of the machine's memory. */
export function defaultMemory(): number {
  const limit = process.constrainedMemory()
  return Math.floor((limit > 0 && limit < totalmem() ? limit : totalmem()) * memoryShare)
}
