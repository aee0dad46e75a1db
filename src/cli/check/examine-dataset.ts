import { relative } from 'node:path'
import type { Dataset } from '../../catalog/dataset.js'
import { openDataset, shownName } from '../../catalog/open-dataset.js'
import type { OpenOptions } from '../../catalog/open-dataset.js'
import type { DeliveryReview } from '../../catalog/delivery-review.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Registry } from '../../registry/registry.js'
import type { InspectFiles, Inspection } from '../../versions/inspector.js'
import { FileError } from '../../versions/opener.js'
import type { OpenFiles } from '../../versions/opener.js'
import { findStoredDamage } from '../../versions/store/stored-damage.js'
import type { StoredDamage } from '../../versions/store/stored-damage.js'
import type { VersionWarning } from '../../versions/version-warnings.js'
import type { Version } from '../../versions/version.js'
import { findDataset } from '../read-registry.js'
import { packsBySelf } from '../../catalog/dataset.js'

/** A dataset that was opened in the folder of its files. */
interface OpenedDataset {
  readonly dataset: Dataset
  /** Why it can't be served, one line each; every file that can't be opened has a line. */
  readonly reasons: readonly string[]
  /** Its version; if files can't be opened, the version of the others; null = no file opens. */
  readonly version: Version | null
}

/** A dataset with everything that its verdict needs. */
export interface ExaminedDataset extends OpenedDataset {
  /** What its files hold; the error's text if reading failed; null = there was no version. */
  readonly inspection: Inspection | string | null
  /** Whether the server makes forms of it by itself. */
  readonly packs: boolean
  /** Files in the state folder that differ from what was published. */
  readonly stored: readonly StoredDamage[]
  /** Why a server goes on with what it serves, a line each. */
  readonly refusals: readonly string[]
  readonly warnings: readonly VersionWarning[]
}

interface ExamineOptions {
  readonly delivery: {
    readonly review: DeliveryReview
    readonly entry: DatasetEntry
    /** What the state folder says is served; null = nothing. */
    readonly served: Version | null
  }
  readonly deep: boolean
  readonly inspectFiles: InspectFiles
  /** Left out = the files of the state folder are not read. */
  readonly versionsFolder?: string
  readonly signal: AbortSignal
  readonly report: Parameters<InspectFiles>[1]['report']
}

/** Without `--deep`, keys are compared in datasets of at most this many rows. */
const comparedRowsMax = 5_000_000

/**
 * Opens a dataset of the registry; a file that can't be opened does not hide the others.
 * @throws bad_request for a name that the registry lacks
 */
export async function openToCheck(
  name: string,
  registry: Registry,
  options: Pick<OpenOptions, 'clock' | 'openFiles' | 'objects' | 'openTable'>,
): Promise<OpenedDataset> {
  const entry = findDataset(registry, name)
  const { clock, openFiles } = options
  const failures: FileError[] = []
  const sound: string[] = []
  const { dataset } = await openDataset(name, entry, registry, {
    ...options,
    openFiles: findEveryFailure(openFiles, failures, sound),
    versionsFolder: null,
  })
  const { version } = dataset
  const reasons = linesOf(dataset.reason)
  if (failures.length === 0 || sound.length === 0) return { dataset, reasons, version }
  // The dataset's own reason is the first failure.
  const more = failures
    .slice(1)
    .map((failure) => `${shownName(registry.folder, failure)} ${failure.reason}`)
  const rest = { ...entry, files: sound.map((path) => relative(registry.folder, path)) }
  const { dataset: others } = await openDataset(name, rest, registry, {
    clock,
    openFiles,
    versionsFolder: null,
  })
  return {
    dataset,
    reasons: [...reasons, ...more, ...linesOf(others.reason)],
    version: others.version,
  }
}

/**
 * Reads the files of an opened dataset. A failure becomes a text in the result, so that it does not
 * hide what is known of other datasets.
 * @throws the signal's reason
 */
export async function examineDataset(
  { dataset, reasons, version }: OpenedDataset,
  options: ExamineOptions,
): Promise<ExaminedDataset> {
  const { deep, inspectFiles, versionsFolder, signal, report } = options
  const { review, entry, served } = options.delivery
  const stored =
    versionsFolder === undefined ? [] : await findStoredDamage(versionsFolder, dataset.name, signal)
  const reason = await resultOrText(signal, () =>
    review.reasonAgainst(served, dataset.version, entry, signal),
  )
  const bare = {
    dataset,
    reasons,
    version,
    inspection: null,
    packs: version !== null && packsBySelf(entry, version),
    stored,
    refusals: linesOf(reason),
    warnings: review.warningsOf(version),
  }
  // What is in a table is its cluster's to verify.
  if (!version || version.table) return bare
  const countsKeys = deep || version.rows <= comparedRowsMax
  const subset = deep ? dataset.demo : null
  const order = { version, deep, countsKeys, subset }
  const inspection = await resultOrText(signal, () => inspectFiles(order, { signal, report }))
  return { ...bare, inspection }
}

/** The result, or the first line of the error. @throws the signal's reason */
async function resultOrText<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | string> {
  try {
    return await work()
  } catch (cause) {
    signal.throwIfAborted()
    const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    return line
  }
}

function linesOf(reason: string | null): readonly string[] {
  return (reason ?? '').split('\n').filter((line) => line !== '')
}

/** Tries the files after a failure too, then throws the first failure. */
function findEveryFailure(openFiles: OpenFiles, failures: FileError[], sound: string[]): OpenFiles {
  return async (paths, boundsOf, fits) => {
    for (let rest = paths; ;) {
      try {
        const opened = await openFiles(rest, boundsOf, fits)
        if (rest === paths) return opened
        sound.push(...rest)
        break
      } catch (cause) {
        if (!(cause instanceof FileError) || !rest.includes(cause.path)) throw cause
        failures.push(cause)
        sound.push(...rest.slice(0, rest.indexOf(cause.path)))
        rest = rest.slice(rest.indexOf(cause.path) + 1)
        if (rest.length === 0) break
      }
    }
    throw failures[0] ?? new Error('no failure to throw')
  }
}
