import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { openerFor } from '../../src/app/reading.js'
import type { FitQuestion, OpenFiles, OpenedFile } from '../../src/versions/opener.js'

/** What was found in files, by their bytes and what was asked. */
const known = new Map<string, OpenedFile>()

/**
 * Opens files as the product does, those with the same bytes once in a process: the worlds of a test
 * file are mostly over the same files, and opening these would be a third of their cost.
 */
export function openedOnce(memoryLimitBytes: number | null): OpenFiles {
  const open = openerFor(memoryLimitBytes)
  return async (paths, boundsOf, fits = []) => {
    const keysOf = () =>
      Promise.all(paths.map((path) => keyOf(path, { memoryLimitBytes, boundsOf, fits })))
    const keys = await keysOf()
    const ready = keys.map((key) => (key === null ? undefined : known.get(key)))
    const missing = paths.filter((_, at) => !ready[at])
    if (missing.length === 0) return ready.filter((file) => file !== undefined)
    // The first bad file among these is the first of all: the others are known to be good.
    const found = (await open(missing, boundsOf, fits)).values()
    const after = await keysOf()
    return paths.map((path, at) => {
      const file = ready[at] ?? found.next().value
      if (!file) throw new Error(`${path} was not opened`)
      const key = keys[at] ?? null
      if (key !== null && key === after[at]) known.set(key, file)
      return file
    })
  }
}

interface Question {
  readonly memoryLimitBytes: number | null
  readonly boundsOf: readonly string[]
  readonly fits: readonly FitQuestion[]
}

/** Null where the file can't be read. */
async function keyOf(path: string, question: Question): Promise<string | null> {
  const bytes = await readFile(path).catch(() => null)
  return bytes && `${hash('sha256', bytes)} ${JSON.stringify(question)}`
}
