import type { Logger } from 'pino'
import type { Catalog } from '../catalog.js'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import type { Engine } from '../engine/engine.js'
import type { Random } from '../random.js'
import type { Registry } from '../registry/registry.js'
import type { ObjectFilesOptions, ObjectSource } from '../versions/objects/object-files.js'
import type { InspectFiles } from '../versions/inspector.js'
import type { OpenFiles } from '../versions/opener.js'
import type { MakeForms } from '../versions/forms/forms-order.js'
import type { OpenTable } from '../versions/remote-table.js'
import type { WithSample } from '../versions/sample.js'
import type { ImportTable } from '../versions/tables/import-table.js'

/** The output of a command: a stream of the process, or a buffer in tests. */
export interface Output {
  readonly write: (text: string) => unknown
  /** The output is a terminal. */
  readonly isTTY?: boolean | undefined
}

/** The service before it listens; `app.ts` builds it. */
export interface ServingApp {
  readonly catalog: () => Catalog
  readonly registry: () => Registry
  readonly server: {
    /** With `fd`, on a socket that listens already; host and port then say nothing. */
    readonly listen: (options: { host: string; port: number; fd?: number }) => Promise<unknown>
    readonly addresses: () => readonly (string | { readonly port: number })[]
  }
  /** Starts what the first question needs, before the server listens. */
  readonly startEngine: () => Promise<void>
  /** Prepares answers that the first clients would wait for. */
  readonly prepare: () => Promise<void>
  /** Loads changes of the registry and the files. */
  readonly reload: () => Promise<void>
  /** Serves on for this long, while `/readyz` and `Connection: close` send clients elsewhere. */
  readonly drain: (ms: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** An open dataset that can be read without a server. */
interface DatasetReader {
  readonly catalog: Catalog
  readonly engine: Engine
  readonly close: () => Promise<void>
}

/** A server that runs until a signal stops the process. */
export interface ServerRun {
  readonly start: () => Promise<void>
  /** With an error: the process stops because of it. May be called before `start` has ended. */
  readonly stop: (error?: Error) => Promise<void>
  /** How long `stop` drains before it closes the server. */
  readonly drainMs: number
  /** Called on SIGHUP. */
  readonly reload: () => Promise<void>
}

/** Everything that commands need from the process; `main.ts` and tests provide it. */
export interface CliParts {
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The id of this process. */
  readonly pid: number
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly stdout: Output
  readonly stderr: Output
  /** The OS user of the process, for the audit trail. */
  readonly user: string
  readonly clock: Clock
  readonly random: Random
  readonly buildApp: (
    config: Config,
    parts: {
      readonly logger: Logger
      readonly clock: Clock
      readonly random: Random
      readonly version: string
      readonly onOpened: (opened: number, datasets: number) => void
    },
  ) => Promise<ServingApp>
  /** Opens Parquet files, with at most this much memory; null = the default. */
  readonly openFiles: (memoryLimitBytes: number | null) => OpenFiles
  /** Reads a sample of Parquet files, with at most this much memory; null = the default. */
  readonly withSample: (memoryLimitBytes: number | null) => WithSample
  /** Inspects open Parquet files, with at most this much memory; null = the default. */
  readonly inspectFiles: (memoryLimitBytes: number | null) => InspectFiles
  /** Opens the files of a dataset, to read them in this process. */
  readonly openReader: (
    registry: Registry,
    dataset: string,
    memoryLimitBytes: number | null,
    sources: {
      readonly trino: Pick<Config, 'trinoUser' | 'trinoPassword'>
      readonly objects: ObjectSource
      readonly clock: Clock
    },
  ) => Promise<DatasetReader>
  /** Files in object storage, fetched into the state folder when they are first asked for. */
  readonly openObjects: (
    config: Pick<Config, 'state' | 'objectEndpoint' | 'objectRegion'>,
    options: Omit<ObjectFilesOptions, 'folder' | 'store'>,
  ) => ObjectSource
  /** Opens tables of Trino clusters. */
  readonly openTable: (
    config: Pick<Config, 'trinoUser' | 'trinoPassword'>,
    clock: Clock,
  ) => OpenTable
  /** Makes the forms of a dataset in this process. */
  readonly makeForms: MakeForms
  /** Writes a table of another format as Parquet. */
  readonly importTable: ImportTable
  /** Runs the work; SIGINT or SIGTERM aborts its signal. */
  readonly untilInterrupted: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>
  /** Starts the server, waits for a signal, stops the server and ends the process. */
  readonly untilStopped: (run: ServerRun) => Promise<void>
}
