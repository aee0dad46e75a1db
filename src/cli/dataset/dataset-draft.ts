import { openCatalog } from '../../catalog.js'
import type { Dataset } from '../../catalog/dataset.js'
import type { Column } from '../../columns/column.js'
import { reservedNames } from '../../registry/column-names.js'
import { withDatasetEntry } from '../../registry/registry-edit.js'
import { RegistryError, parseRegistry } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { FileError } from '../../versions/opener.js'
import type { WithSample } from '../../versions/sample.js'
import type { Version } from '../../versions/version.js'
import { checkDataset } from '../check/dataset-verdict.js'
import { examine } from '../check/examine-dataset.js'
import type { Finding } from '../check/finding-table.js'
import type { CliParts } from '../parts.js'
import { entryText } from './dataset-entry.js'
import type { Draft } from './dataset-entry.js'
import { guessHistory, guessKey, guessable } from './guess-columns.js'

/** A registry's page that a draft is tried on, in memory. */
export interface DraftContext {
  readonly parts: CliParts
  readonly path: string
  readonly text: string
  readonly memoryLimitBytes: number | null
}

/** A draft as the catalog would serve it. */
interface Opened {
  readonly registry: Registry
  readonly dataset: Dataset
  readonly version: Version
}

/** The text of the registry with the draft's entry in it. */
export function pageWith({ text }: DraftContext, draft: Draft): string {
  return withDatasetEntry(text, draft.name, entryText(draft))
}

/**
 * Opens a draft's files as `das dataset check` would.
 * @throws RegistryError with every reason why it could not be served
 */
export async function openDraft(desk: DraftContext, draft: Draft): Promise<Opened> {
  const { dataset, registry } = await tryDraft(desk, draft)
  if (dataset.version) return { registry, dataset, version: dataset.version }
  throw refusal(dataset)
}

/** What `das dataset check` says of it. */
export async function verdict(
  { parts, memoryLimitBytes }: DraftContext,
  { registry, ...opened }: Opened,
): Promise<readonly Finding[]> {
  const context = { registry, sold: [], deep: false, nowMs: parts.now() }
  const tools = { inspectFiles: parts.inspectFiles(memoryLimitBytes) }
  const options = { signal: new AbortController().signal, report: () => {} }
  const examined = await examine({ ...opened, reasons: [] }, context, tools, options)
  return checkDataset(examined, context).findings
}

/**
 * The draft with other names for columns whose own could not stand in a request, where the files
 * have such.
 * @throws RegistryError with every reason why it could not be served all the same
 */
export async function servable(
  desk: DraftContext,
  draft: Draft,
  paths: readonly string[],
): Promise<{ readonly draft: Draft; readonly opened: Opened }> {
  const { dataset, registry } = await tryDraft(desk, draft)
  if (dataset.version) return { draft, opened: { registry, dataset, version: dataset.version } }
  const renamed = await newNames(desk, paths)
  if (renamed.size === 0) throw refusal(dataset)
  const other = { ...draft, renamed }
  return { draft: other, opened: await openDraft(desk, other) }
}

/** What the owner says, or the files, of the key and the history column. */
export type Guess = Pick<Draft, 'key' | 'history'>

/** Guesses from a sample of the files; `said` is what the owner has decided already. */
export async function guess(
  desk: DraftContext,
  version: Version,
  said: Partial<Guess>,
): Promise<Guess & Pick<Draft, 'example'>> {
  const lead = sampleable(version, said.key?.[0])
  const columns = [...new Set([...guessable(version.columns), ...(lead ? [lead] : [])])]
  const { key = [], history = null } = said
  if (version.rows === 0 || columns.length === 0) return { key, history, example: null }
  return await sampler(desk)(version, columns, async (sample) => {
    const guessed = guessHistory(sample)
    const found = said.key ? [] : await guessKey(sample, guessed)
    const first = lead ?? found[0]
    const [example = null] = first ? await sample.example([first]) : []
    return {
      key: said.key ?? found.map(({ name }) => name),
      history: said.history === undefined ? (guessed?.name ?? null) : said.history,
      example,
    }
  })
}

/** A value of this column as a filter writes it; null where there is none. */
export async function exampleOf(
  desk: DraftContext,
  version: Version,
  name: string | undefined,
): Promise<string | null> {
  const column = sampleable(version, name)
  if (!column || version.rows === 0) return null
  const [value = null] = await sampler(desk)(version, [column], (sample) =>
    sample.example([column]),
  )
  return value
}

function sampleable({ columns }: Version, name: string | undefined): Column | undefined {
  return columns.find((each) => each.name === name && each.rules.domain.kind !== 'opaque')
}

async function tryDraft(
  desk: DraftContext,
  draft: Draft,
): Promise<Pick<Opened, 'registry' | 'dataset'>> {
  const { parts, path, memoryLimitBytes } = desk
  const registry = parseRegistry(pageWith(desk, draft).replace(/^\ufeff/, ''), path)
  const openFiles = parts.openFiles(memoryLimitBytes)
  const catalog = await openCatalog(registry, { openFiles, versionsFolder: null }, draft.name)
  const dataset = catalog.datasets.get(draft.name)
  if (!dataset) throw new Error('the catalog lost a dataset')
  return { registry, dataset }
}

/** Places in a page that is not written would lead nowhere. */
function refusal({ name, reason }: Pick<Dataset, 'name' | 'reason'>): Error {
  const reasons = (reason ?? '').split('\n').map((line) => line.replace(/^[^\s:]+:\d+:\d+: /, ''))
  return new RegistryError([
    `error: "${name}" can't be served, so nothing was written:`,
    ...reasons.map((line) => `  ${line}`),
  ])
}

/** A sampler whose complaint names the file as the owner does. */
function sampler({ parts, memoryLimitBytes }: DraftContext): WithSample {
  return async (version, columns, use) => {
    try {
      return await parts.withSample(memoryLimitBytes)(version, columns, use)
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      const file = version.files.find(({ path }) => path === cause.path)
      throw refusal({ name: version.dataset, reason: `${file?.name ?? ''} ${cause.reason}` })
    }
  }
}

/** New names for columns that are called like a parameter, or like another but for its case. */
async function newNames(
  { parts, memoryLimitBytes }: DraftContext,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Set<string>()
  try {
    for (const file of await parts.openFiles(memoryLimitBytes)(paths, [])) {
      for (const { name } of file.columns) names.add(name)
    }
  } catch (cause) {
    // The catalog has said already what is wrong with the file.
    if (cause instanceof FileError) return new Map()
    throw cause
  }
  const renamed = new Map<string, string>()
  const taken = new Set([...names].map((name) => name.toLowerCase()))
  const seen = new Set<string>()
  for (const name of names) {
    const isTwin = seen.has(name.toLowerCase())
    seen.add(name.toLowerCase())
    if (isTwin || reservedNames.includes(name)) renamed.set(name, unusedName(name, taken))
  }
  return renamed
}

function unusedName(name: string, taken: Set<string>): string {
  let unused = `${name}_`
  while (taken.has(unused.toLowerCase())) unused += '_'
  taken.add(unused.toLowerCase())
  return unused
}
