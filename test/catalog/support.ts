import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { openCatalog, readRegistry } from '../../src/catalog/catalog.js'
import type { Catalog } from '../../src/catalog/catalog.js'
import type { Dataset } from '../../src/catalog/dataset.js'
import type { Version } from '../../src/catalog/version.js'
import { duckDbOpener } from '../../src/engine/duckdb/opener.js'
import { writeParquet } from '../support/world.js'

interface HomeOptions {
  /** Path relative to the home → the SELECT whose rows the Parquet file holds. */
  readonly files?: Readonly<Record<string, string>>
  /** Path relative to the home → the file's text or bytes. */
  readonly texts?: Readonly<Record<string, string | Uint8Array>>
  /** registry.yaml, or lines of a dataset `things` over data/*.parquet, which begin with spaces. */
  readonly registry?: string
  readonly versionsFolder?: string
}

/** A folder with a registry and files, opened by the real engine as often as a test wants. */
export interface Home {
  readonly folder: string
  readonly versionsFolder: string
  /** Reads the registry and opens every dataset again. */
  readonly open: () => Promise<Catalog>
  /** The same without publishing. */
  readonly check: () => Promise<Catalog>
  readonly write: (path: string, content: string | Uint8Array) => void
  readonly writeRegistry: (text: string) => void
  readonly writeFiles: (files: Readonly<Record<string, string>>) => Promise<void>
}

const openFiles = duckDbOpener(256 * 2 ** 20)

/** Makes a home in a folder of the test's own. */
export async function makeHome(t: Test, options: HomeOptions): Promise<Home> {
  const folder = t.testdir({})
  const versionsFolder = options.versionsFolder ?? join(folder, 'var', 'versions')
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const writeRegistry = (text: string) => write('registry.yaml', wholeRegistry(text))
  const writeFiles = (files: Readonly<Record<string, string>>) => writeParquet(folder, files)
  await writeFiles(options.files ?? {})
  for (const [path, content] of Object.entries(options.texts ?? {})) write(path, content)
  writeRegistry(options.registry ?? '')
  const openAt = async (versions: string | null) => {
    const registry = await readRegistry(join(folder, 'registry.yaml'))
    return openCatalog(registry, { openFiles, versionsFolder: versions })
  }
  return {
    folder,
    versionsFolder,
    open: () => openAt(versionsFolder),
    check: () => openAt(null),
    write,
    writeRegistry,
    writeFiles,
  }
}

function wholeRegistry(text: string): string {
  if (text !== '' && !text.startsWith(' ')) return text
  return `datasets:\n  things:\n    title: Things\n    files: data/*.parquet\n${text}\n`
}

/** A dataset that is there, served or not. */
export function datasetOf(catalog: Catalog, name = 'things'): Dataset {
  const dataset = catalog.datasets.get(name)
  if (!dataset) throw new Error(`no dataset ${name}`)
  return dataset
}

/** The version of a dataset that must be served. */
export function versionOf(catalog: Catalog, name = 'things'): Version {
  const { version, reason } = datasetOf(catalog, name)
  if (!version) throw new Error(`${name} is not served: ${reason}`)
  return version
}

/** Opens `things` over these files, with these lines in the registry, and gives its version. */
export async function openThings(
  t: Test,
  files: Readonly<Record<string, string>>,
  lines = '',
): Promise<Version> {
  const home = await makeHome(t, { files, registry: lines })
  return versionOf(await home.open())
}

/** Why `things` over these files is not served; '' when it is. */
export async function refusalOf(
  t: Test,
  files: Readonly<Record<string, string>>,
  lines = '',
): Promise<string> {
  const home = await makeHome(t, { files, registry: lines })
  return datasetOf(await home.open()).reason ?? ''
}
