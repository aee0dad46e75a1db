import type { Logger } from 'pino'
import type { Catalog } from '../catalog.js'
import type { Config } from '../config.js'
import type { Engine } from '../engine/engine.js'
import type { Registry } from '../registry/registry.js'
import type { InspectFiles } from '../versions/inspector.js'
import type { OpenFiles } from '../versions/opener.js'
import type { MeasurePackGain } from '../versions/pack-gain.js'
import type { PackFiles } from '../versions/packer.js'
import type { WithSample } from '../versions/sample.js'

/** Where a command writes: a stream of the process, or a test's list. */
export interface Output {
  /** Calls `done` when more can be taken, also where nobody reads any more. */
  readonly write: (text: string, done?: () => void) => unknown
  /** A person reads along. */
  readonly isTTY?: boolean | undefined
  /** Of a terminal: letters in a line. */
  readonly columns?: number | undefined
  /** False once nobody reads any more. */
  readonly writable?: boolean
}

/** A service that was built and can be put on the network; `app.ts` builds it. */
export interface ServingApp {
  readonly catalog: () => Catalog
  readonly registry: () => Registry
  readonly server: {
    readonly listen: (options: { host: string; port: number }) => Promise<unknown>
    readonly addresses: () => readonly (string | { readonly port: number })[]
  }
  /** Readies what first callers would wait for. */
  readonly prepare: () => Promise<void>
  /** Takes what changed of registry and files now. */
  readonly reload: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A dataset that can be read without being served. */
export interface DatasetReader {
  readonly catalog: Catalog
  readonly engine: Engine
  readonly close: () => Promise<void>
}

/** Something that runs until the process is told to stop. */
export interface ServerRun {
  readonly start: () => Promise<void>
  /** An error says that it is not by the owner's wish. May come while `start` is still at work. */
  readonly stop: (error?: Error) => Promise<void>
  /** On SIGHUP. */
  readonly reload: () => Promise<void>
}

/** All that commands need from the process; `main.ts` wires it, tests bring their own. */
export interface CliParts {
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly stdout: Output
  readonly stderr: Output
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly buildApp: (
    config: Config,
    parts: { logger: Logger; now: () => number; version: string },
  ) => Promise<ServingApp>
  /** Opens Parquet files to look at them, with this memory at most; null = its own choice. */
  readonly openFiles: (memoryLimitBytes: number | null) => OpenFiles
  /** Looks at some rows of Parquet files, with this memory at most; null = its own choice. */
  readonly withSample: (memoryLimitBytes: number | null) => WithSample
  /** Looks into files that were opened, with this memory at most; null = its own choice. */
  readonly inspectFiles: (memoryLimitBytes: number | null) => InspectFiles
  /** Measures what packing would bring, with this memory at most; null = its own choice. */
  readonly measureGain: (memoryLimitBytes: number | null) => MeasurePackGain
  /** Opens a dataset where its files lie, to read it in this process. */
  readonly openReader: (
    registry: Registry,
    dataset: string,
    memoryLimitBytes: number | null,
  ) => Promise<DatasetReader>
  /** Packs files in this process. */
  readonly packFiles: PackFiles
  /** Ends the work's signal, with an AbortError, when the process is told to stop. */
  readonly untilInterrupted: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>
  /** Starts, waits for the process to be told to stop, stops, and ends. */
  readonly untilStopped: (run: ServerRun) => Promise<void>
}
