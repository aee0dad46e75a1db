import { dirname, relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import { parse } from 'yaml'
import { badRequest } from '../../errors.js'
import { listOf } from '../../registry/registry.js'
import { readRegistryText, writeRegistry } from '../../registry/write-registry.js'
import type { RegistryText } from '../../registry/write-registry.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import { canAsk } from '../dialogue.js'
import type { CliParts } from '../parts.js'
import { printJson, printLines } from '../print.js'
import { linkBase } from '../server-address.js'
import { addedJson, addedLines, dryLines } from './dataset-added.js'
import type { Added } from './dataset-added.js'
import { requireParquet } from './dataset-conversion.js'
import { dictionaryPath, exists, withDictionary } from './dataset-dictionary.js'
import { exampleOf, guess, openDraft, textWith, servable, verdict } from './dataset-draft.js'
import type { DraftContext, Guess } from './dataset-draft.js'
import type { Draft } from './dataset-entry.js'
import { freeName, titleOf } from './dataset-name.js'
import { askDraft, requireName } from './dataset-questions.js'
import { filesOf, readPaths } from './source-paths.js'
import type { PathsRead } from './source-paths.js'

interface AddFlags extends Flags {
  readonly name?: string
  readonly title?: string
  readonly description?: string
  readonly source?: string
  /** False for `--no-key`. */
  readonly key?: string | false
  readonly history?: string | false
  readonly listed?: boolean
  readonly dictionary: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
}

const settingNames = ['registry', 'memoryLimit', 'state', 'host', 'port', 'publicUrl'] as const

const newRegistryText = `# The datasets of this service. Check them with \`das dataset check\`;
# a running server loads changes by itself.
`

/** `das dataset add`. */
export function addDatasetAdd(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'add <path...>',
    description:
      'Add Parquet files to the registry as a dataset: one file, several, a folder, a glob or a ' +
      'hive tree. Name, title, key and history column are guessed; on a terminal it asks.',
    options: addOptions,
    settings: settingNames,
    json: 'print {name, written, title, files, key, history, dictionary, renamed, rows, …}',
    examples: [
      'das dataset add sales.parquet',
      "das dataset add 'data/sales/*.parquet' --name sales --key id --history year --yes",
      'das dataset add data/events --dry-run',
    ],
  }).action((paths: readonly string[], flags: AddFlags) => add(parts, paths, flags))
}

function addOptions(command: Command): Command {
  return command
    .option('--name <name>', 'name in URLs: a-z, 0-9 and "_"')
    .option('--title <text>', 'title of the dataset')
    .option('--description <text>', 'meaning of a row and of an empty value')
    .option('--source <text>', 'origin of the data')
    .option('--key <columns>', 'comma-separated columns for look-ups')
    .option('--no-key', 'declare no key')
    .option('--history <column>', 'column in which plans count years')
    .option('--no-history', 'declare no history column')
    .option('--no-dictionary', 'create no file for units and descriptions')
    .option('--listed', 'list it for visitors without a token')
    .option('-y, --yes', 'accept all guesses without asking')
    .option('--dry-run', 'print the entry; change no file')
}

async function add(parts: CliParts, given: readonly string[], flags: AddFlags): Promise<void> {
  const config = readSettings(settingNames, flags, parts.environment)
  const before = await readRegistryText(config.registry)
  const folder = dirname(resolve(config.registry))
  if (!(await exists(folder))) {
    throw badRequest(`The folder of ${config.registry} does not exist. Create it first.`)
  }
  const listed = listedFiles(before)
  const taken = new Set(listed.keys())
  if (flags.name !== undefined) requireName(flags.name, taken)
  const found = await readPaths(given, folder)
  await requireParquet(found.paths)
  const { registry: path, memoryLimit: memoryLimitBytes } = config
  const context: DraftContext = {
    parts,
    path,
    text: before.text ?? newRegistryText,
    memoryLimitBytes,
  }
  const made = await makeDraft(context, found, taken, flags)
  const added: Added = {
    ...made,
    registryPath: path,
    base: linkBase(config, flags, parts.environment),
    twins: await twinsOf(found, listed, folder),
    found,
    isWritten: flags.dryRun !== true,
  }
  if (added.isWritten) await write(context, before, added)
  if (flags.json) printJson(parts, addedJson(added))
  else printLines(parts, ...(added.isWritten ? addedLines(parts, added) : dryLines(added)))
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

async function write(
  context: DraftContext,
  before: RegistryText,
  { draft, version, ...rest }: Added,
) {
  const text = textWith(context, draft)
  const path = draft.dictionary && resolve(dirname(resolve(context.path)), draft.dictionary)
  const isNew = path !== null && !rest.hasDictionary
  await withDictionary(isNew ? path : null, version, () => writeRegistry(before, text))
}

/** The files of each dataset in the registry; a registry with mistakes is read too. */
function listedFiles({ text }: RegistryText): ReadonlyMap<string, readonly string[]> {
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
