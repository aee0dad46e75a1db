import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'
import { readDiskState } from '../../versions/files/disk-state.js'
import type { OpenTable, OpenedTable } from '../../versions/remote-table.js'
import type { Storage } from '../../versions/store/disk-use.js'
import { narrowedDataset, registryDataset } from '../dataset.js'
import type { Dataset } from '../dataset.js'
import { openDataset } from '../open-dataset.js'
import type { OpenedDataset } from '../open-dataset.js'
import { lossReason } from '../delivery-review.js'
import type { LiveDataset } from './live-dataset.js'
import type {
  DatasetDefinition,
  LiveDatasetOptions,
  UpdateOptions,
  UpdateResult,
} from './update.js'

/** How long a start, or a change of the registry, waits for a cluster. */
const waitMs = 10_000
const openMsMax = 300_000
/** A table that can't be read is tried again after this time. */
const retryMs = 5000

/** A table as it was read for one state of the registry. */
interface Reading {
  readonly definition: DatasetDefinition
  readonly key: string
  readonly force: boolean
  opened: OpenedDataset | null
}

/**
 * One table of a running server, read again and again: a cluster sends no event. It is read beside
 * the catalog's updates, so a slow cluster delays no other dataset. Superseded versions are not
 * kept: only the present rows can be read.
 */
export class LiveTable {
  readonly #name: string
  readonly #options: LiveDatasetOptions
  readonly forms = null
  readonly sourceFolders: readonly string[] = []
  readonly damage = null
  readonly stored: LiveDataset['stored'] = { folders: [], earlier: [] }
  #dataset: Dataset
  #reading: Reading | null = null
  /** The registry's state of the last reading that ended. */
  #key: string | null = null
  #takenAt = -Infinity
  #pauseMs = 0
  #known: OpenedTable | null = null
  #last: Pick<Reading, 'definition' | 'key'> | null = null

  constructor(name: string, { entry }: DatasetDefinition, options: LiveDatasetOptions) {
    this.#name = name
    this.#options = options
    this.#dataset = registryDataset(name, entry)
  }

  /** The dataset for requests. */
  get dataset(): Dataset {
    return this.#dataset
  }

  /** Follows the registry and the table: takes what was read, or starts to read. */
  async update(
    definition: DatasetDefinition,
    { isFirst, force }: UpdateOptions,
  ): Promise<UpdateResult> {
    const { key } = await readDiskState(definition.registry, definition.entry)
    const taken = this.#take(key)
    const isNew = key !== this.#key && key !== this.#reading?.key
    if (!isNew && !force && (this.#reading || !this.#isDue())) return taken
    const reading = this.#read({ definition, key, force, opened: null })
    if (!isFirst && !isNew && !force) return taken
    await settledSoon(this.#options.clock, reading)
    if (this.#take(key) === 'changed') return 'changed'
    if (this.#dataset.version || this.#dataset.reason !== null) return taken
    this.#dataset = Object.freeze({ ...this.#dataset, reason: 'the table is being read' })
    return 'changed'
  }

  /** Reads the table again; waits a while. The next update takes what was read. */
  async refresh(): Promise<void> {
    const last = this.#last
    if (!last) return
    await settledSoon(this.#options.clock, this.#read({ ...last, force: false, opened: null }))
  }

  async storage(): Promise<Storage> {
    return { stored: null, diskBytes: 0 }
  }

  /** Nothing of an earlier process is kept. */
  async restore(): Promise<void> {}

  async notPacked(): Promise<void> {}

  drop(): void {}

  lose(): readonly [] {
    return []
  }

  withdraw(): boolean {
    return false
  }

  async expire(): Promise<boolean> {
    return false
  }

  async discard(): Promise<boolean> {
    return true
  }

  /** Ends when the table was read, or can't be; a later reading replaces this one. */
  async #read(reading: Reading): Promise<void> {
    const { tables, clock } = this.#options
    this.#reading = reading
    this.#last = reading
    const { registry, entry } = reading.definition
    const limits = [abortAfter(clock, openMsMax), ...(tables ? [tables.signal] : [])]
    const openTable: OpenTable = async (table, boundsOf, signal) => {
      if (!tables) throw new Error('no table can be read here')
      this.#known = await tables.openTable(table, boundsOf, signal, this.#known)
      return this.#known
    }
    reading.opened = await openDataset(this.#name, entry, registry, {
      ...this.#options,
      openTable,
      signal: AbortSignal.any(limits),
    })
    tables?.onChange()
  }

  #isDue(): boolean {
    const sinceMs = this.#options.clock.now() - this.#takenAt
    // Negative when the clock was set back.
    return sinceMs >= this.#pauseMs || sinceMs < 0
  }

  /** Serves what a reading has found, unless callers would lose columns or too many rows. */
  #take(key: string): UpdateResult {
    const reading = this.#reading
    if (!reading?.opened || reading.key !== key) return 'unchanged'
    const { definition, force, opened } = reading
    const isSameEntry = this.#key === key
    this.#reading = null
    this.#key = key
    const before = this.#dataset
    const [served, next] = [before.version, opened.dataset.version]
    this.#pauseMs = next ? (this.#options.tables?.pollMs ?? retryMs) : retryMs
    this.#takenAt = this.#options.clock.now()
    const loss =
      served && next && !force ? lossReason(served, next, definition.entry, this.#takenAt) : null
    const reason = next ? loss : opened.dataset.reason
    if (!next || loss !== null) {
      if (isSameEntry && before.reason === reason) return 'unchanged'
      this.#dataset = served
        ? narrowedDataset(before, definition, reason ?? '')
        : Object.freeze({ ...opened.dataset, reason })
      return 'changed'
    }
    const isSame = served?.id === next.id
    if (isSame && isSameEntry && before.reason === null) return 'unchanged'
    // The moment of the first reading: a cluster may not tell when rows were written.
    const version = isSame ? Object.freeze({ ...next, modifiedMs: served.modifiedMs }) : next
    this.#dataset = Object.freeze({ ...opened.dataset, version })
    return 'changed'
  }
}

/** Waits for the work, but not for a slow cluster. */
async function settledSoon(clock: Clock, work: Promise<void>): Promise<void> {
  const limit = new AbortController()
  const late = clock.sleep(waitMs, limit.signal).catch(() => undefined)
  await Promise.race([work, late])
  limit.abort()
}
