import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openCatalog } from '../catalog.js'
import type { CliParts } from '../cli/parts.js'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import { dispatchEngine } from '../engine/dispatch-engine.js'
import { DuckDbEngine } from '../engine/duckdb/duckdb-engine.js'
import type { EngineOptions } from '../engine/duckdb/engine-options.js'
import { duckDbInspector } from '../engine/duckdb/inspect/inspect.js'
import { duckDbComparer } from '../engine/duckdb/pack/write-changes.js'
import { duckDbOpener } from '../engine/duckdb/open/open-files.js'
import type { Engine } from '../engine/engine.js'
import { trinoOpener } from '../engine/trino/open-table.js'
import type { TrinoLogin } from '../engine/trino/trino-client.js'
import { TrinoEngine } from '../engine/trino/trino-engine.js'
import { defaultMemory } from '../machine.js'
import { querySlotsMax } from '../setting-values.js'
import type { CompareRows } from '../versions/changes/change-set.js'
import type { InspectFiles } from '../versions/inspector.js'
import type { OpenFiles } from '../versions/opener.js'
import type { OpenTable } from '../versions/remote-table.js'
import { allFiles } from '../versions/version.js'
import { CleanupStack } from './cleanup-stack.js'

/** A share for work beside a server's engine. */
const smallMemoryShare = 0.25
/** Bytes that hold a column of one usual row group: all values are read before they are served. */
const smallMemoryMin = 64e6
const queueMax = 256
/** This and a query's own time are less than a minute, the limit of proxies and MCP clients. */
const waitMaxMs = 30_000

/** Trino runs queries on machines of its own. */
const trinoSlots = 16

/** The settings of Trino's user. */
export type TrinoConfig = Pick<Config, 'trinoUser' | 'trinoPassword'>

/** The login that these settings give. */
export function trinoLogin({ trinoUser: user, trinoPassword: password }: TrinoConfig): TrinoLogin {
  return { user, password }
}

/** Opens tables of Trino clusters as the user of these settings. */
export function openerForTables(config: TrinoConfig, clock: Clock): OpenTable {
  return trinoOpener(trinoLogin(config), clock)
}

/** The engines of a server. */
export interface Engines {
  /** Reads the files of versions. */
  readonly files: DuckDbEngine
  /** Asks the clusters of tables. */
  readonly tables: TrinoEngine
  /** The one that a version belongs to. */
  readonly all: Engine
}

/** Opens the engine over tables of Trino clusters, with a bounded queue. */
export function openTrino(config: TrinoConfig, clock: Clock): TrinoEngine {
  const login = trinoLogin(config)
  return new TrinoEngine({ clock, login, slots: trinoSlots, queueMax, waitMaxMs })
}

type EngineSettings = Omit<EngineOptions, 'threads' | 'slots' | 'queueMax' | 'waitMaxMs'> & {
  /** Concurrent queries; null = as many as cores, up to the most that can be set. */
  readonly slots: number | null
}

/** Opens the engine over these folders, with a bounded queue. */
export function openEngine({ slots, ...settings }: EngineSettings): Promise<DuckDbEngine> {
  const cores = availableParallelism()
  return DuckDbEngine.open({
    ...settings,
    threads: cores,
    slots: slots ?? Math.min(cores, querySlotsMax),
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

/** Compares versions with a share of this memory. */
export function comparerFor(memoryLimitBytes: number): CompareRows {
  return duckDbComparer(smallShare(memoryLimitBytes))
}

/**
 * Opens one dataset in the place of its files, to read it beside the server. A dataset that can't
 * be opened has a reason. The catalog lists the other datasets unopened.
 */
export const openReader: CliParts['openReader'] = async (
  registry,
  dataset,
  memoryLimitBytes,
  { trino, clock, objects },
) => {
  const openTable = openerForTables(trino, clock)
  const openFiles = openerFor(memoryLimitBytes)
  const options = { clock, openFiles, versionsFolder: null, objects, openTable }
  const catalog = await openCatalog(registry, options, dataset)
  const version = catalog.datasets.get(dataset)?.version
  const files = version ? allFiles(version) : []
  const cleanup = new CleanupStack()
  const temp = cleanup.adopt(await mkdtemp(join(tmpdir(), 'das-read-')), (path) =>
    rm(path, { recursive: true, force: true }),
  )
  try {
    const engine = await openEngine({
      clock,
      folders: [...new Set(files.map(({ path }) => dirname(path)))],
      tempFolder: temp,
      memoryLimitBytes: smallShare(memoryLimitBytes),
      slots: 1,
    })
    const both = cleanup.use(dispatchEngine(engine, openTrino(trino, clock)))
    return { catalog, engine: both, close: () => cleanup.close() }
  } catch (cause) {
    await cleanup.close()
    throw cause
  }
}

/** Bytes for this much memory's small share, at least 64 MB; null = of the default. */
export function smallShare(memoryLimitBytes: number | null): number {
  const share = Math.floor((memoryLimitBytes ?? defaultMemory()) * smallMemoryShare)
  return Math.max(share, smallMemoryMin)
}
