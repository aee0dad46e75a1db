import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Config } from '../../config.js'
import { recordAction } from '../../control/audit.js'
import type { ControlStore } from '../../control/store/store.js'
import { badRequest } from '../../errors.js'
import { readRegistryText, writeRegistry } from '../../registry/write-registry.js'
import type { RegistryText } from '../../registry/write-registry.js'
import { checkDatasets } from '../check/dataset-check.js'
import { commandObjects } from '../progress.js'
import type { Flags, Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { linkBase } from '../server-address.js'
import { withStore } from '../state.js'
import { addedJson, addedLines, dryLines, importedOnly } from './dataset-added.js'
import type { Added } from './dataset-added.js'
import { guess, openDraft, requireOneTable, servable, textWith, verdict } from './dataset-draft.js'
import type { DraftContext, Guess } from './dataset-draft.js'
import { withDictionary } from './dataset-entry.js'
import type { Draft } from './dataset-entry.js'
import { freeName, requireName, titleOf } from './dataset-name.js'
import { importTable, shownPath, tableAt, tableOptions } from './import-table.js'
import type { ImportFlags, Imported } from './import-table.js'
import { listedFiles, readPaths } from './source-paths.js'
import type { ListedFiles, PathsRead } from './source-paths.js'

/** The options of `das dataset add` for one dataset. */
export interface AddFlags extends Flags, ImportFlags {
  readonly name?: string
  readonly title?: string
  readonly titleRu?: string
  readonly description?: string
  readonly source?: string
  /** False for `--no-key`. */
  readonly key?: string | false
  readonly history?: string | false
  readonly listed?: boolean
  readonly dictionary: boolean
}

/** The settings that the command reads. */
export const addSettings = [
  'registry',
  'memoryLimit',
  'state',
  'host',
  'port',
  'publicUrl',
] as const

export type AddConfig = Pick<Config, (typeof addSettings)[number]>

const newRegistryText = `# The datasets of this service. Check them with \`das dataset check\`;
# a running server loads changes by itself. docs/registry.md has all keys.

# demo: { token: das_demo_opendata } # a public token, for datasets that have \`demo\` below
`

/**
 * Adds files as one dataset; those of other formats are written as Parquet first. If the dataset
 * can't be added, no file remains that was not there before.
 * @throws bad_request, RegistryError, TableError
 */
export async function addDataset(
  parts: CliParts,
  given: readonly string[],
  flags: AddFlags,
  config: AddConfig,
): Promise<Result> {
  const before = await readRegistryText(config.registry)
  const folder = dirname(resolve(config.registry))
  if (!existsSync(folder)) {
    throw badRequest(`The folder of ${config.registry} does not exist. Create it first.`)
  }
  const listed = await listedFiles(before, folder)
  if (flags.name !== undefined) requireName(flags.name, new Set(listed.keys()))
  const imported: Imported[] = []
  try {
    const paths = await parquetPaths(parts, given, flags, config, imported)
    if (imported.length > 0 && flags.dryRun === true) return importedOnly(imported, [], null)
    const users = imported.length === given.length ? usersOf(imported, listed) : []
    if (users.length > 0) return await recordImported(parts, config, flags, imported, users)
    return await addPaths(parts, paths, flags, { config, before, listed, imported })
  } catch (cause) {
    for (const { target, isReplaced } of imported) {
      if (!isReplaced) await rm(target, { force: true })
    }
    throw cause
  }
}

/** The given paths, each table of another format by its Parquet file, which is written now. */
async function parquetPaths(
  parts: CliParts,
  given: readonly string[],
  flags: AddFlags,
  config: AddConfig,
  imported: Imported[],
): Promise<readonly string[]> {
  const paths: string[] = []
  for (const path of given) {
    const table = await tableAt(path)
    if (table) imported.push(await importTable(parts, path, table, flags, config.memoryLimit))
    paths.push(table?.target ?? path)
  }
  const [, wrong] = tableOptions.find(([name]) => flags[name] !== undefined) ?? []
  if (wrong === undefined || imported.length > 0) return paths
  throw badRequest(`${wrong} is for CSV, Excel and NDJSON files, and no such file is named.`)
}

/** The datasets that list the written files; none if a file is new or not listed. */
function usersOf(imported: readonly Imported[], listed: ListedFiles): readonly string[] {
  const isListed = ({ target }: Imported) =>
    [...listed.values()].some((paths) => paths.includes(target))
  if (!imported.every((each) => each.isReplaced && isListed(each))) return []
  return [...listed.keys()].filter((name) =>
    imported.some(({ target }) => listed.get(name)?.includes(target)),
  )
}

/** Records and checks the datasets whose Parquet files were written again from other files. */
async function recordImported(
  parts: CliParts,
  config: AddConfig,
  flags: AddFlags,
  imported: readonly Imported[],
  datasets: readonly string[],
): Promise<Result> {
  const details = { files: imported.map(({ file }) => shownPath(file)) }
  await withStore(parts, config.state, async (store) => {
    for (const subject of datasets) {
      const action = { action: 'dataset.imported', subject, details } as const
      await recordAction(store, { ...action, now: parts.clock.now() })
    }
  })
  return importedOnly(imported, datasets, await checkDatasets(parts, config, flags, datasets))
}

interface AddContext {
  readonly config: AddConfig
  readonly before: RegistryText
  readonly listed: ListedFiles
  readonly imported: readonly Imported[]
}

async function addPaths(
  parts: CliParts,
  given: readonly string[],
  flags: AddFlags,
  { config, before, listed, imported }: AddContext,
): Promise<Result> {
  const objects = commandObjects(parts, config.state, flags.json === true)
  const found = await readPaths(given, dirname(resolve(config.registry)), objects)
  await requireParquet(found.paths)
  const own = found.paths.join('\n')
  const twins = [...listed.keys()].filter((name) => listed.get(name)?.join('\n') === own)
  if (twins.length > 0 && flags.name === undefined) throw alreadyAdded(twins)
  const context: DraftContext = {
    parts,
    path: config.registry,
    text: before.text ?? newRegistryText,
    memoryLimitBytes: config.memoryLimit,
    objects,
  }
  const added: Added = {
    ...(await makeDraft(context, found, new Set(listed.keys()), flags)),
    registryPath: config.registry,
    base: linkBase(config, flags, parts.environment),
    twins,
    found,
    imported,
    isWritten: flags.dryRun !== true,
  }
  if (added.isWritten) {
    await withStore(parts, config.state, (store) => write(context, before, added, store))
  }
  return {
    json: addedJson(added),
    lines: added.isWritten ? addedLines(parts, added) : dryLines(added),
  }
}

function alreadyAdded(names: readonly string[]): Error {
  const datasets = names.map((name) => `"${name}"`).join(', ')
  return badRequest(
    `The registry lists these files as ${datasets}: a running server takes changed files by ` +
      'itself. To list them a second time, give a --name.',
  )
}

/** @throws bad_request for tables of other formats among the files of a folder or a glob */
async function requireParquet(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const table = await tableAt(path)
    if (!table) continue
    throw badRequest(
      `${shownPath(path)} is ${table.format}. Name such files one by one, or use --each to make ` +
        'every file of a folder a dataset.',
    )
  }
}

/** The dataset as it will be served, from the options and the guesses. */
async function makeDraft(
  context: DraftContext,
  found: PathsRead,
  taken: ReadonlySet<string>,
  flags: AddFlags,
): Promise<Pick<Added, 'draft' | 'version' | 'findings' | 'hasDictionary'>> {
  const first = await servable(context, bareDraft(found, taken, flags), found.paths)
  requireOneTable(first.version)
  const guessed = await guess(context, first.version, givenColumns(flags))
  const draft = { ...first.draft, ...guessed }
  const path = flags.dictionary ? join(found.folder, `${draft.name}.columns.csv`) : null
  const hasDictionary = path !== null && existsSync(path)
  const folder = dirname(resolve(context.path))
  const dictionary = path && relative(folder, path).split(sep).join('/')
  const opened = await openDraft(context, {
    ...draft,
    dictionary: hasDictionary ? dictionary : null,
  })
  return {
    draft: { ...draft, dictionary },
    version: opened.version,
    findings: await verdict(context, opened),
    hasDictionary,
  }
}

function bareDraft(found: PathsRead, taken: ReadonlySet<string>, flags: AddFlags): Draft {
  return {
    name: flags.name ?? freeName(found.called, taken),
    title: flags.title ?? titleOf(found.called),
    titleRu: flags.titleRu ?? null,
    description: flags.description ?? null,
    source: flags.source ?? null,
    files: found.files,
    key: [],
    history: null,
    isListed: flags.listed === true,
    dictionary: null,
    renamed: new Map(),
    nameColumn: null,
    example: null,
  }
}

function givenColumns({ key, history }: AddFlags): Partial<Guess> {
  const names = (text: string) => text.split(',').map((name) => name.trim())
  return {
    ...(key === undefined ? {} : { key: key === false ? [] : names(key) }),
    ...(history === undefined ? {} : { history: history === false ? null : history }),
  }
}

/**
 * Writes dictionary, registry and audit trail. Only warns if the trail can't be written, because
 * the registry was changed already.
 */
async function write(
  context: DraftContext,
  before: RegistryText,
  { draft, version, hasDictionary, imported }: Added,
  store: ControlStore,
): Promise<void> {
  const { clock, random, stderr } = context.parts
  const { name: subject, files, key, history } = draft
  const path = draft.dictionary && resolve(dirname(resolve(context.path)), draft.dictionary)
  await withDictionary(hasDictionary ? null : path, version, () =>
    writeRegistry(before, textWith(context, draft), random),
  )
  const details = { files, key, history, imported: imported.map(({ file }) => shownPath(file)) }
  try {
    await recordAction(store, { action: 'dataset.added', subject, details, now: clock.now() })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    stderr.write(`warning: das audit does not show that "${subject}" was added: ${why}\n`)
  }
}
