import type { Access } from '../access/access.js'
import type { PageFormat } from './page-format.js'
import type { Filter } from './read-filters.js'

/** What all questions have that are ready to run. */
export interface Resolved {
  /** Access to the version that is read: a cursor's if it is kept, otherwise the newest. */
  readonly access: Access
  readonly format: PageFormat
  /** Of the columns, in formats whose headings can be chosen; else null. */
  readonly headings: readonly string[] | null
  /** The caller's filters, without those that the access adds. */
  readonly filters: readonly Filter[]
  /**
   * Equal for requests with equal answers on the same version and access. The key contains a
   * position only as the cursor: entity tags derive from the key, and the caller knows its other
   * parts.
   */
  readonly key: string
}
