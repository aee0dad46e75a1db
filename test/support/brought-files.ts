import { cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import type { Test } from 'tap'
import { cliOver } from '../cli/fixtures/cli-fixture.js'
import { startOfTest, startWorld } from './world.js'
import { writeParquet } from './parquet.js'
import { testFolder } from './folder.js'

/** Files that a data engineer brings, and what the registry says of them. */
export interface Brought {
  /** A folder of `test/fixtures/field`, whose files go to `data/`, or a file of it. */
  readonly field?: string
  /** Path relative to the registry → the SELECT of a file. */
  readonly files?: Readonly<Record<string, string>>
  /** Options of COPY for these files. */
  readonly writing?: string
  /** Where the dataset `things` looks for files; left out = everywhere in `data/`. */
  readonly pattern?: string
  /** Lines of its entry in the registry, which begin with spaces. */
  readonly lines?: string
}

/** The forms that a version is served in. */
export const forms = ['dropped', 'packed'] as const

/** What is said of the files. */
interface Verdict {
  /** The lines of `das dataset check`. */
  readonly check: string
  /** Why they are not served; null if they are. */
  readonly reason: string | null
  /** What `das dataset list` warns of. */
  readonly warnings: readonly string[]
}

/** What became of the files. */
export interface Outcome extends Verdict {
  /** Drops other files over them, in the server and beside it. */
  readonly deliver: (files: Brought) => Promise<Verdict>
  /** Runs `das` over the same folder. */
  readonly das: ReturnType<typeof cliOver>['das']
  /** The text of an answer to a query of `things`, or of what is below it, in a form. */
  readonly ask: (form: (typeof forms)[number], query: string, below?: string) => Promise<string>
}

const fieldFolder = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'field')

/** Drops the files into a folder, checks them, and serves them in both forms. */
export async function bring(
  t: Test,
  { lines = '', pattern = 'data/**/*.parquet', ...brought }: Brought,
): Promise<Outcome> {
  // Servers of earlier calls still run: they must not find these files, nor this state.
  if (!existsSync(t.testdirName)) testFolder(t)
  const folder = mkdtempSync(join(t.testdirName, 'brought-'))
  mkdirSync(join(folder, 'data'))
  await drop(folder, brought)
  const registry = registryText(pattern, lines)
  writeFileSync(join(folder, 'registry.yaml'), registry)
  const { das } = cliOver(folder, { ms: startOfTest })
  const checked = async () => (await das(['dataset', 'check', 'things'])).stdout
  const verdict = async (check: string): Promise<Verdict> => {
    const { stdout } = await das(['dataset', 'list', '--json'])
    // What `das dataset list` prints.
    const [state] = JSON.parse(stdout) as Omit<Verdict, 'check'>[]
    return { check, reason: state?.reason ?? null, warnings: state?.warnings ?? [] }
  }
  const check = await checked()
  const worlds = new Map<string, Awaited<ReturnType<typeof serve>>>()
  const dropped = await serve(t, folder, registry, 'var')
  worlds.set('dropped', dropped)
  const deliver: Outcome['deliver'] = async (other) => {
    await drop(folder, other)
    const found = await checked()
    await dropped.reload()
    return verdict(found)
  }
  const ask: Outcome['ask'] = async (form, query, below) => {
    if (!worlds.has(form)) {
      const environment = { DAS_STATE: join(folder, form) }
      const packed = await das(['dataset', 'pack', 'things'], { environment })
      if (packed.code !== 0) throw new Error(packed.stderr)
      worlds.set(form, await serve(t, folder, registry, form))
    }
    return (await worlds.get(form)?.answer(query, below)) ?? ''
  }
  return { ...(await verdict(check)), deliver, das, ask }
}

/** As files beside those that were there, which stay as they were for who still reads them. */
async function drop(folder: string, { field, files = {}, writing }: Brought): Promise<void> {
  if (field !== undefined) {
    const [from, isFile] = [join(fieldFolder, field), extname(field) !== '']
    const names = isFile ? [''] : readdirSync(from, { recursive: true }).map(String)
    for (const name of names.filter((each) => isFile || extname(each) !== '')) {
      const to = join(folder, 'data', isFile ? basename(field) : name)
      rmSync(to, { force: true })
      cpSync(join(from, name), to)
    }
  }
  for (const name of Object.keys(files)) rmSync(join(folder, name), { force: true })
  await writeParquet(folder, files, writing)
}

async function serve(t: Test, folder: string, registry: string, state: string) {
  const settings = { state: join(folder, state) }
  const world = await startWorld(t, { at: folder, files: {}, registry, settings })
  const { token } = await world.subscribe(['things:all'])
  const answer = async (query: string, below?: string) => {
    const path = below === undefined ? 'things' : `things/${below}`
    return (await world.get(`/v1/${path}?${query}`, token)).text
  }
  return { answer, reload: () => world.app.reload() }
}

function registryText(pattern: string, lines: string): string {
  return `datasets:
  things:
    title: Things
    files: ${pattern}
    require_filter: false
${lines}
    plans:
      all: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 10000}
`
}
