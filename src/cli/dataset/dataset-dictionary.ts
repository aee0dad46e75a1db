import { rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { csvCell } from '../../text.js'
import type { Version } from '../../versions/version.js'

/** Where a dataset's units and descriptions are written by its owner. */
export function dictionaryPath(folder: string, dataset: string): string {
  return join(folder, `${dataset}.columns.csv`)
}

/** Whether there is something of this name. */
export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

/**
 * Makes a dictionary with a line for each column, still to be filled in, and then does the work;
 * if that fails the dictionary goes again. Nothing that exists is overwritten. Null = none.
 * @throws Error where it can't be written
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
    const message = `Can't write ${basename(path)} (${code}); --no-dictionary does without it.`
    throw new Error(message, { cause })
  }
  try {
    await work()
  } catch (cause) {
    await rm(path, { force: true })
    throw cause
  }
}

/** By the files' own names, which dictionaries speak of. */
function skeleton({ columns }: Version): string {
  const lines = columns.map(({ source }) => `${csvCell(source)},,`)
  return ['column,unit,description', ...lines, ''].join('\n')
}
