import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Test } from 'tap'
import { cliOver } from '../cli/fixtures/cli-fixture.js'
import { startOfTest, startWorld } from './world.js'
import { writeParquet } from './parquet.js'

/** Files that a data engineer brings, and what the registry says of them. */
export interface Brought {
  /** A folder of `test/field`, whose files go to `data/`, or a file of it. */
  readonly field?: string
  /** Path relative to the registry → the SELECT of a file. */
  readonly files?: Readonly<Record<string, string>>
  /** Lines of the dataset `things` over `data/**` with `id` as key, which begin with spaces. */
  readonly lines?: string
}

/** The forms that a version is served in. */
export const forms = ['dropped', 'packed'] as const

/** What became of the files. */
export interface Outcome {
  /** The lines of `das dataset check`. */
  readonly check: string
  /** Why they are not served; null if they are. */
  readonly reason: string | null
  /** The text of an answer to a query of `things`, or of what is below it, in a form. */
  readonly ask: (form: (typeof forms)[number], query: string, below?: string) => Promise<string>
}

const fieldFolder = join(import.meta.dirname, '..', '..', '..', 'test', 'field')

/** Drops the files into a folder, checks them, and serves them in both forms. */
export async function bring(t: Test, { field, files = {}, lines = '' }: Brought): Promise<Outcome> {
  const folder = t.testdir({})
  mkdirSync(join(folder, 'data'))
  if (field !== undefined) {
    const to = join(folder, 'data', extname(field) === '' ? '' : field)
    cpSync(join(fieldFolder, field), to, { recursive: true })
  }
  await writeParquet(folder, files)
  const registry = registryText(lines)
  writeFileSync(join(folder, 'registry.yaml'), registry)
  const { das } = cliOver(folder, { ms: startOfTest })
  const { stdout } = await das(['dataset', 'check', 'things'])
  const worlds = new Map<string, Awaited<ReturnType<typeof serve>>>()
  const dropped = await serve(t, folder, registry, 'var')
  worlds.set('dropped', dropped)
  const ask: Outcome['ask'] = async (form, query, below) => {
    if (!worlds.has(form)) {
      const environment = { DAS_STATE: join(folder, form) }
      const packed = await das(['dataset', 'pack', 'things'], { environment })
      if (packed.code !== 0) throw new Error(packed.stderr)
      worlds.set(form, await serve(t, folder, registry, form))
    }
    const answer = await worlds.get(form)?.(query, below)
    return answer ?? ''
  }
  const listed = await das(['dataset', 'list', '--json'])
  // What `das dataset list` prints.
  const [state] = JSON.parse(listed.stdout) as { reason: string | null }[]
  return { check: stdout, reason: state?.reason ?? null, ask }
}

async function serve(t: Test, folder: string, registry: string, state: string) {
  const settings = { state: join(folder, state) }
  const world = await startWorld(t, { at: folder, files: {}, registry, settings })
  const { token } = await world.subscribe(['things:all'])
  return async (query: string, below?: string) => {
    const path = below === undefined ? 'things' : `things/${below}`
    return (await world.get(`/v1/${path}?${query}`, token)).text
  }
}

function registryText(lines: string): string {
  return `datasets:
  things:
    title: Things
    files: data/**/*.parquet
    require_filter: false
${lines}
    plans:
      all: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 10000}
`
}
