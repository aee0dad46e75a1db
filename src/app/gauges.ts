import { statfs } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { Dataset } from '../catalog/dataset.js'
import { waitingLetters } from '../control/letters.js'
import { ServiceError } from '../errors.js'
import type { Service } from '../service.js'
import type { CatalogUpdates } from './catalog-updates.js'
import type { Engines } from './reading.js'
import type { Records } from './records/file-records.js'
import type { ServerBase } from './server-base.js'

/** The parts of a server whose state is read when Prometheus asks. */
export interface GaugedParts {
  readonly engines: Engines
  readonly updates: CatalogUpdates
  readonly records: Records
  readonly service: Pick<Service, 'cacheUse'>
  readonly version: string
}

/** Sets the values of one metric: one for each set of labels. */
type Collect = (gauge: Gauge) => void | Promise<void>

const nanoseconds = 1e9

/** Adds the state of a server to the registry. Returns what ends the measuring. */
export function addGauges(
  registry: Registry,
  { config, clock }: Pick<ServerBase, 'config' | 'clock'>,
  parts: GaugedParts,
): () => void {
  const add = (name: string, help: string, labelNames: readonly string[], collect: Collect) => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect: async () => {
        gauge.reset()
        try {
          await collect(gauge)
        } catch (cause) {
          // One part that can't be read must not hide the others, such as das_control_usable.
          if (!(cause instanceof ServiceError)) throw cause
          if (labelNames.length === 0) gauge.set(NaN)
        }
      },
    })
  }
  addServer(add, parts)
  addDatasets(add, parts)
  addFiles(add, parts, clock.monotonicMs)
  addDisk(add, parts, config.state)
  addCaches(add, registry, parts)
  return addProcess(add, parts)
}

type Add = (name: string, help: string, labelNames: readonly string[], collect: Collect) => void

function addServer(add: Add, parts: GaugedParts): void {
  const { records, version } = parts
  add('das_build_info', 'Always 1; the label is the release.', ['release'], (gauge) => {
    gauge.set({ release: version }, 1)
  })
  add('das_control_usable', '1 while control.db can be read and written.', [], async (gauge) => {
    gauge.set((await records.isUsable()) ? 1 : 0)
  })
  add('das_queue_length', 'Queries that wait for the engine.', ['lane'], (gauge) => {
    for (const [lane, { waitingCount }] of lanesOf(parts)) {
      gauge.set({ lane }, waitingCount)
    }
  })
  add('das_queries_running', 'Queries that hold a slot of the engine.', ['lane'], (gauge) => {
    for (const [lane, { runningCount }] of lanesOf(parts)) {
      gauge.set({ lane }, runningCount)
    }
  })
  add('das_letters_waiting', 'Letters that wait to be sent.', [], async (gauge) => {
    gauge.set((await waitingLetters(records.control)).count)
  })
}

/** The queues of both engines by their labels. */
function lanesOf({ engines }: GaugedParts) {
  const named = Object.entries(engines.tables.turns).map(
    ([lane, turns]) => [`trino_${lane}`, turns] as const,
  )
  return [...Object.entries(engines.files.turns), ...named]
}

function addDatasets(add: Add, { updates: { live } }: GaugedParts): void {
  const addEach = (name: string, help: string, valueOf: (each: Dataset) => number | undefined) =>
    add(name, help, ['dataset'], (gauge) => {
      for (const dataset of live.serving.catalog.datasets.values()) {
        const value = valueOf(dataset)
        if (value !== undefined) gauge.set({ dataset: dataset.name }, value)
      }
    })
  add('das_registry_refused', '1 while registry.yaml is refused.', [], (gauge) => {
    gauge.set(live.serving.registryReason === null ? 0 : 1)
  })
  addEach('das_dataset_available', '1 while a version is served.', ({ version }) =>
    version ? 1 : 0,
  )
  addEach('das_dataset_refused', '1 while the newest files are refused.', ({ reason }) =>
    reason === null ? 0 : 1,
  )
  addEach('das_dataset_damaged', '1 while a stored file is damaged.', ({ name }) =>
    live.damageOf(name) === null ? 0 : 1,
  )
  addEach('das_dataset_rows', 'Rows of the served version.', ({ version }) => version?.rows)
  addEach(
    'das_dataset_versions',
    'Versions that can be read: the served one and earlier ones of walks.',
    ({ version, earlier }) => (version ? 1 : 0) + earlier.length,
  )
}

function addFiles(add: Add, { updates }: GaugedParts, monotonicMs: () => number): void {
  const { live, checks } = updates
  add('das_stored_files', 'Stored files, verified in this run or not.', ['verified'], (gauge) => {
    const files = live.storedFiles
    const verified = files.filter((file) => checks.isVerified(file)).length
    gauge.set({ verified: 'true' }, verified)
    gauge.set({ verified: 'false' }, files.length - verified)
  })
  add(
    'das_scrub_oldest_check_age_seconds',
    'Time since the least recent verification of a stored file.',
    [],
    (gauge) => {
      const now = monotonicMs()
      const ages = live.storedFiles.map((file) => now - (checks.verifiedAt(file) ?? now))
      gauge.set(ages.reduce((oldest, age) => Math.max(oldest, age), 0) / 1000)
    },
  )
}

function addDisk(add: Add, { updates: { space } }: GaugedParts, stateFolder: string): void {
  const used = 'Bytes of stored versions and objects, as --disk-limit counts them.'
  add('das_disk_used_bytes', used, [], async (gauge) => {
    gauge.set(await space.usedBytes())
  })
  add('das_disk_limit_bytes', 'Bytes of --disk-limit; +Inf without it.', [], (gauge) => {
    gauge.set(space.limitBytes ?? Infinity)
  })
  add(
    'das_disk_free_bytes',
    'Bytes that the disk of the state folder has left.',
    [],
    async (gauge) => {
      const { bavail, bsize } = await statfs(stateFolder)
      gauge.set(bavail * bsize)
    },
  )
}

function addCaches(add: Add, registry: Registry, { service }: GaugedParts): void {
  const uses = () => Object.entries(service.cacheUse())
  const count = (name: string, help: string, key: 'hits' | 'misses') => {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: ['cache'],
      registers: [registry],
      collect: () => {
        counter.reset()
        for (const [cache, use] of uses()) counter.inc({ cache }, use[key])
      },
    })
  }
  count('das_cache_hits_total', 'Answers that were taken from a cache.', 'hits')
  count('das_cache_misses_total', 'Answers that a cache did not have.', 'misses')
  add('das_cache_bytes', 'Bytes of answers that are kept.', ['cache'], (gauge) => {
    for (const [cache, { bytes }] of uses()) gauge.set({ cache }, bytes)
  })
}

/** The delay counts from one scrape to the next. */
function addProcess(add: Add, { engines }: GaugedParts): () => void {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  add(
    'das_event_loop_delay_p99_seconds',
    '99th percentile of the delay of timers since the last scrape.',
    [],
    (gauge) => gauge.set(delay.percentile(99) / nanoseconds),
  )
  add(
    'das_event_loop_delay_max_seconds',
    'Longest delay of timers since the last scrape.',
    [],
    (gauge) => {
      gauge.set(delay.max / nanoseconds)
      delay.reset()
    },
  )
  add(
    'das_memory_bytes',
    'Memory by part: the whole process (rss), parts of JavaScript, instances of DuckDB.',
    ['part'],
    async (gauge) => {
      const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage()
      const held = engines.files.instances.map((each) => each.memoryBytes())
      const [solo = 0, shared = 0, ...summaries] = await Promise.all(held)
      const parts = {
        rss,
        heap_used: heapUsed,
        heap_total: heapTotal,
        external,
        array_buffers: arrayBuffers,
        engine_solo: solo,
        engine_shared: shared,
        engine_summaries: summaries.reduce((sum, bytes) => sum + bytes, 0),
      }
      for (const [part, bytes] of Object.entries(parts)) gauge.set({ part }, bytes)
    },
  )
  return () => delay.disable()
}
