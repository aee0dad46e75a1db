import { mkdir, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { setLayout } from './change-set.js'
import type { ChangeSet } from './change-set.js'

/** Two versions of a dataset, one after the other. */
export interface Step {
  readonly dataset: string
  readonly previous: string | null
  readonly version: string
}

const keptMax = 10_000

/**
 * What is known of the changes between versions, in a folder for each dataset: a file of JSON for
 * each step, and one of rows beside it. A step is known when its JSON is there.
 */
export class ChangeSets {
  readonly folder: string
  /** Path → what it says; null = nothing is known. */
  readonly #known = new Map<string, ChangeSet | null>()

  constructor(folder: string) {
    this.folder = folder
  }

  /** Null while nothing is known. */
  async find(step: Step): Promise<ChangeSet | null> {
    const path = this.#path(step, 'json')
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
      return 'null'
    })
    // What `add` wrote, of this release or another one.
    const set = this.#readable(step, JSON.parse(text) as ChangeSet | null)
    if (this.#known.size >= keptMax) this.#known.clear()
    this.#known.set(path, set)
    return set
  }

  /** The folder may have moved. */
  #readable(step: Step, found: ChangeSet | null): ChangeSet | null {
    if (found?.kind !== 'ready') return found
    if (found.layout === setLayout) return { ...found, path: this.target(step) }
    return { kind: 'none', reason: 'another release computed them', isKeyless: false }
  }

  /** Where the rows of a step are written. */
  target(step: Step): string {
    return this.#path(step, 'parquet')
  }

  async add(step: Step, set: ChangeSet): Promise<void> {
    const path = this.#path(step, 'json')
    await this.prepare(step)
    if (set.kind === 'ready') await synced(set.path)
    await writeFile(`${path}.part`, JSON.stringify(set), { mode: 0o600, flush: true })
    await rename(`${path}.part`, path)
    this.#known.delete(path)
  }

  /** Makes the folder of a step's dataset. */
  async prepare({ dataset }: Step): Promise<void> {
    await mkdir(join(this.folder, dataset), { recursive: true, mode: 0o700 })
  }

  /** Removes what is of no dataset of these names. */
  async keepDatasets(names: ReadonlyMap<string, unknown>): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      if (names.has(name)) continue
      await rm(join(this.folder, name), { recursive: true, force: true })
      this.#known.clear()
    }
  }

  /** Removes what is not one of these steps, and what a killed comparison left. */
  async keep(dataset: string, steps: readonly Step[]): Promise<void> {
    const kept = new Set(steps.map(nameOf))
    const folder = join(this.folder, dataset)
    for (const file of await readdir(folder).catch(() => [])) {
      const { name, ext } = parse(file)
      if (kept.has(name) && endings.has(ext)) continue
      await rm(join(folder, file), { force: true })
      this.#known.delete(join(folder, file))
    }
  }

  #path(step: Step, ending: string): string {
    return join(this.folder, step.dataset, `${nameOf(step)}.${ending}`)
  }
}

/** Makes a file durable. */
async function synced(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}

/** What is kept of a step. */
const endings: ReadonlySet<string> = new Set(['.json', '.parquet'])

function nameOf({ previous, version }: Step): string {
  return `${previous ?? 'first'}-${version}`
}
