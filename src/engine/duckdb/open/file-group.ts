import type { FileColumn } from '../../../versions/opener.js'

/** Files that have the same columns with the same types. */
export interface FileGroup {
  readonly files: readonly { readonly path: string; readonly rows: number }[]
  readonly columns: readonly FileColumn[]
}
