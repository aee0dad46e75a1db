import type { Version } from './version.js'

/** A version that walks may still be on. */
export interface Superseded {
  readonly version: Version
  readonly folder: string | null
  readonly supersededAt: number
}

const earlierMax = 1000
/** Files of all superseded versions together: each costs some memory and a link. */
const earlierFilesMax = 500_000

/** The newest of them that together are not too many. */
export function bounded(earlier: readonly Superseded[]): readonly Superseded[] {
  const newestFirst = earlier.slice(-earlierMax).reverse()
  let files = 0
  const end = newestFirst.findIndex(({ version }) => {
    files += version.files.length
    return files > earlierFilesMax
  })
  return (end < 0 ? newestFirst : newestFirst.slice(0, end)).reverse()
}
