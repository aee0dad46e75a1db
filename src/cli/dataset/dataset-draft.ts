import { openCatalog } from '../../catalog.js'
import { DeliveryReview } from '../../catalog/delivery-review.js'
import type { Dataset } from '../../catalog/dataset.js'
import type { Column } from '../../columns/column.js'
import { badRequest } from '../../errors.js'
import { reservedNames } from '../../registry/column-names.js'
import { withDatasetEntry } from '../../registry/registry-edit.js'
import { RegistryError, parseRegistry } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { layoutsOf } from '../../versions/compare-versions.js'
import type { ObjectSource } from '../../versions/objects/object-files.js'
import { FileError } from '../../versions/opener.js'
import type { WithSample } from '../../versions/sample.js'
import type { DataFile, Version } from '../../versions/version.js'
import { checkDataset } from '../check/dataset-verdict.js'
import { examineDataset } from '../check/examine-dataset.js'
import type { Finding } from '../check/finding-table.js'
import type { CliParts } from '../parts.js'
import { findDataset } from '../read-registry.js'
import { entryText } from './dataset-entry.js'
import type { Draft } from './dataset-entry.js'
import { guessHistory, guessKey, guessName, guessable } from './guess-columns.js'

/** The registry's text, into which a draft is written in memory. */
export interface DraftContext {
  readonly parts: CliParts
  readonly path: string
  readonly text: string
  readonly memoryLimitBytes: number | null
  readonly objects: ObjectSource
}

/** A draft as the catalog would serve it. */
interface Opened {
  readonly registry: Registry
  readonly dataset: Dataset
  readonly version: Version
}

/** The text of the registry with the draft's entry. */
export function textWith({ text }: DraftContext, draft: Draft): string {
  return withDatasetEntry(text, draft.name, entryText(draft))
}

/**
 * Opens the files of a draft.
 * @throws RegistryError with every reason why it can't be served
 */
export async function openDraft(context: DraftContext, draft: Draft): Promise<Opened> {
  const { dataset, registry } = await tryDraft(context, draft)
  if (dataset.version) return { registry, dataset, version: dataset.version }
  throw refusal(dataset)
}

/** The findings that `das dataset check` would report. */
export async function verdict(
  { parts, memoryLimitBytes }: DraftContext,
  { registry, ...opened }: Opened,
): Promise<readonly Finding[]> {
  const context = { registry, sold: [], datasets: new Map(), published: new Map() }
  const inspectFiles = parts.inspectFiles(memoryLimitBytes)
  const options = {
    delivery: {
      review: new DeliveryReview({ clock: parts.clock, inspectFiles }),
      entry: findDataset(registry, opened.dataset.name),
      served: null,
    },
    deep: false,
    inspectFiles,
    signal: new AbortController().signal,
    report: () => {},
  }
  const examined = await examineDataset({ ...opened, reasons: [] }, options)
  return checkDataset(examined, context).findings
}

/**
 * The draft, with new names for columns whose own names can't be used in a request.
 * @throws RegistryError with every reason why it can't be served, if no name is the reason
 */
export async function servable(
  context: DraftContext,
  draft: Draft,
  paths: readonly string[],
): Promise<{ readonly draft: Draft; readonly version: Version }> {
  const { dataset } = await tryDraft(context, draft)
  if (dataset.version) return { draft, version: dataset.version }
  const renamed = await newNames(context, paths)
  if (renamed.size === 0) throw refusal(dataset)
  const other = { ...draft, renamed }
  return { draft: other, version: (await openDraft(context, other)).version }
}

/**
 * A file that shares no column with the others is hardly a part of one table: rows would be half
 * empty.
 * @throws bad_request that names two such files
 */
export function requireOneTable(version: Version): void {
  const layouts = layoutsOf(version)
  const apart = layouts.find((file) =>
    layouts.every((other) => other === file || !sharesColumn(file, other)),
  )
  const other = layouts.find((each) => each !== apart)
  if (!apart || !other) return
  throw badRequest(
    `${apart.name} has no column of ${other.name}: as one dataset, their rows would be half ` +
      'empty. Add them one by one, or with --each.',
  )
}

function sharesColumn(file: DataFile, other: DataFile): boolean {
  const names = new Set([...file.types.keys()].map((name) => name.toLowerCase()))
  return [...other.types.keys()].some((name) => names.has(name.toLowerCase()))
}

/** The key and the history column, given by the owner or guessed from the files. */
export type Guess = Pick<Draft, 'key' | 'history'>

/** Guesses from a sample of the files; `given` are the owner's decisions. */
export async function guess(
  context: DraftContext,
  version: Version,
  given: Partial<Guess>,
): Promise<Guess & Pick<Draft, 'example' | 'nameColumn'>> {
  const lead = sampleable(version, given.key?.[0])
  const columns = [...new Set([...guessable(version.columns), ...(lead ? [lead] : [])])]
  const { key = [], history = null } = given
  const nameColumn = guessName(version.columns)?.name ?? null
  if (version.rows === 0 || columns.length === 0) {
    return { key, history, nameColumn, example: null }
  }
  return await sampler(context)(version, columns, async (sample) => {
    const guessed = guessHistory(sample)
    const found = given.key ? [] : await guessKey(sample, guessed)
    const first = lead ?? found[0]
    const [example = null] = first ? await sample.example([first]) : []
    return {
      key: given.key ?? found.map(({ name }) => name),
      history: given.history === undefined ? (guessed?.name ?? null) : given.history,
      nameColumn,
      example,
    }
  })
}

function sampleable({ columns }: Version, name: string | undefined): Column | undefined {
  return columns.find((each) => each.name === name && each.rules.domain.kind !== 'opaque')
}

async function tryDraft(
  context: DraftContext,
  draft: Draft,
): Promise<Pick<Opened, 'registry' | 'dataset'>> {
  const { parts, path, memoryLimitBytes, objects } = context
  const registry = parseRegistry(textWith(context, draft).replace(/^\ufeff/, ''), path)
  const openFiles = parts.openFiles(memoryLimitBytes)
  const catalog = await openCatalog(
    registry,
    { clock: parts.clock, openFiles, versionsFolder: null, objects },
    draft.name,
  )
  const dataset = catalog.datasets.get(draft.name)
  if (!dataset) throw new Error('the catalog lacks the draft')
  return { registry, dataset }
}

/** Leaves out line numbers, because the text that they refer to is never written. */
function refusal({ name, reason }: Pick<Dataset, 'name' | 'reason'>): Error {
  const reasons = (reason ?? '').split('\n').map((line) => line.replace(/^[^\s:]+:\d+:\d+: /, ''))
  return new RegistryError([
    `error: "${name}" can't be served, so nothing was written:`,
    ...reasons.map((line) => `  ${line}`),
  ])
}

/** A sampler whose errors have the file's name instead of its path. */
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

/** New names for columns with a reserved name, or with a name that differs only in case. */
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
    // The catalog has reported this file.
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
