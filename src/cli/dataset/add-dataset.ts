import { rm } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import { parse } from 'yaml'
import type { Config } from '../../config.js'
import type { ControlStore } from '../../control/store/store.js'
import { badRequest } from '../../errors.js'
import { listOf } from '../../registry/registry.js'
import { readRegistryText, writeRegistry } from '../../registry/write-registry.js'
import type { RegistryText } from '../../registry/write-registry.js'
import { commandObjects } from '../command-objects.js'
import type { Flags } from '../command.js'
import { canAsk } from '../dialogue.js'
import type { CliParts } from '../parts.js'
import { linkBase } from '../serve/server-address.js'
import { withStore } from '../state.js'
import { addedJson, addedLines, dryLines, importedOnly } from './dataset-added.js'
import type { Added, AddResult } from './dataset-added.js'
import { recordAdded, recordImported } from './dataset-audit.js'
import { dictionaryPath, exists, withDictionary } from './dataset-dictionary.js'
import { exampleOf, guess, openDraft, textWith, servable, verdict } from './dataset-draft.js'
import type { DraftContext, Guess } from './dataset-draft.js'
import type { Draft } from './dataset-entry.js'
import { freeName, titleOf } from './dataset-name.js'
import { askDraft, requireName } from './dataset-questions.js'
import { importTable, shownPath, tableAt, tableOptions } from './import-table.js'
import type { ImportFlags, Imported } from './table-types.js'
import { filesOf, readPaths } from './source-paths.js'
import type { PathsRead } from './source-paths.js'

/** The options of `das dataset add` for one dataset. */
export interface AddFlags extends Flags, ImportFlags {
  readonly json?: boolean
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
): Promise<AddResult> {
  const before = await readRegistryText(config.registry)
  const folder = dirname(resolve(config.registry))
  if (!(await exists(folder))) {
    throw badRequest(`The folder of ${config.registry} does not exist. Create it first.`)
  }
  const listed = listedFiles(before)
  if (flags.name !== undefined) requireName(flags.name, new Set(listed.keys()))
  const imported: Imported[] = []
  try {
    const paths = await parquetPaths(parts, given, flags, config, imported)
    if (imported.length > 0 && flags.dryRun === true) return importedOnly(imported, [])
    const known = await datasetsOf(imported, listed, folder)
    const isUpdate = known !== null && imported.length === given.length
    if (isUpdate) {
      await withStore(parts, config.state, async (store) => {
        await recordImported(parts, store, imported, known)
      })
      return importedOnly(imported, known)
    }
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

/** The datasets that list the written files; null if a file was not replaced or is not listed. */
async function datasetsOf(
  imported: readonly Imported[],
  listed: ReadonlyMap<string, readonly string[]>,
  folder: string,
): Promise<readonly string[] | null> {
  const names = new Set<string>()
  const targets = imported.filter(({ isReplaced }) => isReplaced).map(({ target }) => target)
  let found = 0
  for (const [name, files] of listed) {
    const paths = await filesOf(folder, files)
    const own = targets.filter((target) => paths.includes(target))
    if (own.length > 0) names.add(name)
    found = Math.max(found, own.length)
  }
  return imported.length > 0 && found === imported.length ? [...names] : null
}

interface AddContext {
  readonly config: AddConfig
  readonly before: RegistryText
  readonly listed: ReadonlyMap<string, readonly string[]>
  readonly imported: readonly Imported[]
}

async function addPaths(
  parts: CliParts,
  paths: readonly string[],
  flags: AddFlags,
  { config, before, listed, imported }: AddContext,
): Promise<AddResult> {
  const folder = dirname(resolve(config.registry))
  const objects = commandObjects(parts, config.state, flags.json === true)
  const found = await readPaths(paths, folder, objects)
  await requireParquet(found.paths)
  const { registry: path, memoryLimit: memoryLimitBytes } = config
  const context: DraftContext = {
    parts,
    path,
    text: before.text ?? newRegistryText,
    memoryLimitBytes,
    objects,
  }
  const made = await makeDraft(context, found, new Set(listed.keys()), flags)
  const added: Added = {
    ...made,
    registryPath: path,
    base: linkBase(config, flags, parts.environment),
    twins: await twinsOf(found, listed, folder),
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

/** The dataset as it will be served, from the flags, the answers and the guesses. */
async function makeDraft(
  context: DraftContext,
  found: PathsRead,
  taken: ReadonlySet<string>,
  flags: AddFlags,
): Promise<Pick<Added, 'draft' | 'version' | 'findings' | 'hasDictionary'>> {
  const first = await servable(context, bareDraft(found, taken, flags), found.paths)
  const { version } = first.opened
  const guessed = { ...first.draft, ...(await guess(context, version, givenColumns(flags))) }
  const talks = flags.yes !== true && flags.json !== true && canAsk(context.parts)
  const chosen = talks ? await askDraft(context.parts, guessed, version, taken, flags) : guessed
  const folder = dirname(resolve(context.path))
  const dictionary = flags.dictionary ? dictionaryPath(found.folder, chosen.name) : null
  const hasDictionary = dictionary !== null && (await exists(dictionary))
  const isGuessed = chosen.key[0] === guessed.key[0]
  const example = isGuessed ? guessed.example : await exampleOf(context, version, chosen.key[0])
  const draft = { ...chosen, example }
  const shownPath = dictionary && relative(folder, dictionary).split(sep).join('/')
  const checked = { ...draft, dictionary: hasDictionary ? shownPath : null }
  const opened = await openDraft(context, checked)
  return {
    draft: { ...draft, dictionary: shownPath },
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

/** Writes dictionary, registry and audit trail. */
async function write(
  context: DraftContext,
  before: RegistryText,
  added: Added,
  store: ControlStore,
) {
  const { draft, version, hasDictionary } = added
  const text = textWith(context, draft)
  const path = draft.dictionary && resolve(dirname(resolve(context.path)), draft.dictionary)
  const isNew = path !== null && !hasDictionary
  await withDictionary(isNew ? path : null, version, () =>
    writeRegistry(before, text, context.parts.random),
  )
  await recordAdded(context.parts, store, added)
}

/** The files of each dataset in the registry; a registry with mistakes is read too. */
export function listedFiles({ text }: RegistryText): ReadonlyMap<string, readonly string[]> {
  const listed = new Map<string, readonly string[]>()
  let content: unknown = null
  try {
    content = parse(text ?? '', { logLevel: 'silent' })
  } catch {
    // `openDraft` reports the mistake with its line.
    return listed
  }
  const { datasets } = (content ?? {}) as { readonly datasets?: unknown }
  for (const [name, entry] of Object.entries(datasets ?? {})) {
    const { files } = (entry ?? {}) as { readonly files?: string | readonly string[] }
    listed.set(name, listOf(files))
  }
  return listed
}

async function twinsOf(
  { paths }: PathsRead,
  listed: ReadonlyMap<string, readonly string[]>,
  folder: string,
): Promise<readonly string[]> {
  const own = paths.join('\n')
  const twins: string[] = []
  for (const [name, files] of listed) {
    if ((await filesOf(folder, files)).join('\n') === own) twins.push(name)
  }
  return twins
}
