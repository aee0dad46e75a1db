import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bucket } from '../harness/object-gateway.js'

/** Where the files of `things` are, one for each year. */
export interface SourceFiles {
  /** For the registry. */
  readonly pattern: string
  /** Puts a written file into its place in one step, also over an earlier one. */
  readonly put: (year: number, draft: string) => Promise<void>
  readonly read: (year: number) => Promise<Buffer>
  readonly remove: (year: number) => Promise<void>
  /** Makes a folder where a file is expected. */
  readonly putFolder: (year: number) => Promise<void>
}

/** Files in a folder of the fixture. */
export function folderFiles(folder: string): SourceFiles {
  const path = (year: number) => pathOf(folder, year)
  return {
    pattern: 'data/things/*.parquet',
    put: (year, draft) => rename(draft, path(year)),
    read: (year) => readFile(path(year)),
    remove: (year) => rm(path(year), { recursive: true }),
    putFolder: async (year) => {
      await mkdir(path(year))
    },
  }
}

/** Objects of a bucket. */
export function bucketFiles(bucket: Bucket): SourceFiles {
  const key = (year: number) => `things/${year}.parquet`
  return {
    pattern: 's3://data/things/*.parquet',
    put: async (year, draft) => {
      await bucket.put(key(year), await readFile(draft))
      await rm(draft)
    },
    read: (year) => bucket.get(key(year)),
    remove: async (year) => {
      await bucket.remove(key(year))
      await bucket.remove(`${key(year)}/`)
    },
    putFolder: (year) => bucket.put(`${key(year)}/`, Buffer.alloc(0)),
  }
}

/** Where the file of a year is in a fixture's folder. */
export function pathOf(folder: string, year: number): string {
  return join(folder, 'data', 'things', `${year}.parquet`)
}
