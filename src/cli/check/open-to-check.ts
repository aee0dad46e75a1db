import { relative } from 'node:path'
import type { Dataset } from '../../catalog/dataset.js'
import { openDataset } from '../../catalog/open-dataset.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Registry } from '../../registry/registry.js'
import { FileError } from '../../versions/opener.js'
import type { OpenFiles } from '../../versions/opener.js'
import type { Version } from '../../versions/version.js'

/** A dataset opened where its files lie, to be looked into. */
export interface OpenedToCheck {
  readonly dataset: Dataset
  /** Why it can't be served, a line each; every file that does not open is named. */
  readonly reasons: readonly string[]
  /** The dataset's version; where files don't open, what the others make; null where nothing is. */
  readonly version: Version | null
}

/** Opens a dataset; a file that can't be opened hides nothing of the others. */
export async function openToCheck(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  openFiles: OpenFiles,
): Promise<OpenedToCheck> {
  const failures: FileError[] = []
  const sound: string[] = []
  const { dataset } = await openDataset(name, entry, registry, {
    openFiles: findEveryFailure(openFiles, failures, sound),
    versionsFolder: null,
  })
  const { version } = dataset
  const reasons = linesOf(dataset)
  if (failures.length === 0 || sound.length === 0) return { dataset, reasons, version }
  // The first failure is the dataset's own reason.
  const more = failures
    .slice(1)
    .map((failure) => `${relative(registry.folder, failure.path)} ${failure.reason}`)
  const rest = { ...entry, files: sound.map((path) => relative(registry.folder, path)) }
  const { dataset: others } = await openDataset(name, rest, registry, {
    openFiles,
    versionsFolder: null,
  })
  return { dataset, reasons: [...reasons, ...more, ...linesOf(others)], version: others.version }
}

function linesOf({ reason }: Dataset): readonly string[] {
  return (reason ?? '').split('\n').filter((line) => line !== '')
}

/** Throws the first failure as before, once it has tried all the files behind it. */
function findEveryFailure(openFiles: OpenFiles, failures: FileError[], sound: string[]): OpenFiles {
  return async (paths, boundsOf) => {
    for (let rest = paths; ;) {
      try {
        const opened = await openFiles(rest, boundsOf)
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
