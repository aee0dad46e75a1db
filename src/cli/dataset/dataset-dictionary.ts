import { rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { csvCell } from '../../text.js'
import type { Version } from '../../versions/version.js'

/** The file in which the owner writes a dataset's units and descriptions. */
export function dictionaryPath(folder: string, dataset: string): string {
  return join(folder, `${dataset}.columns.csv`)
}

/** Whether a file or folder exists. */
export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

/**
 * Creates a dictionary with an empty line for each column, then does the work; if the work fails,
 * the dictionary is removed. An existing file is not overwritten. `path` null = no dictionary.
 * @throws Error when the dictionary can't be written
 */
export async function withDictionary(
  path: string | null,
  version: Version,
  work: () => Promise<void>,
): Promise<void> {
  if (path === null) return await work()
  try {
    await writeFile(path, skeleton(version), { flag: 'wx' })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const message = `Can't write ${basename(path)} (${code}). Use --no-dictionary to skip it.`
    throw new Error(message, { cause })
  }
  try {
    await work()
  } catch (cause) {
    await rm(path, { force: true })
    throw cause
  }
}

/** Dictionaries use the column names of the files. */
function skeleton({ columns }: Version): string {
  const lines = columns.map(({ source }) => `${csvCell(source)},,`)
  return ['column,unit,description', ...lines, ''].join('\n')
}
