import type { ContentFile } from '../files/build-version.js'
import type { Origin } from './manifest.js'

/** The files of a dataset, found, read and ready to be served. */
export interface Content {
  /** Where they are published; null where they are read in place. */
  readonly folder: string | null
  readonly files: readonly ContentFile[]
  /** The columns whose bounds the files were asked for. */
  readonly boundsOf: readonly string[]
  /** Of packed files, those that they were made from; else null. */
  readonly origins: readonly Origin[] | null
}
