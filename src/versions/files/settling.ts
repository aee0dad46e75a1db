import type { Look } from './look.js'
import { inodeOf } from './source-files.js'

/** Why files are not opened yet. */
export interface Unsettled {
  /** For the owner, once the files have had much time; null before. */
  readonly reason: string | null
}

/** Folders in which files come and go without end are opened all the same after this long. */
const settleMsMax = 10_000

/** Tells whether files are still being written to. */
export class Settling {
  #seen: { readonly look: Look; readonly since: number } | null = null

  /**
   * Null, so that the files may be opened, when two calls in a row see the same. Null too after
   * `settleMsMax`, unless a file was written to in place since the call before: it may be torn.
   */
  unsettled(look: Look, now: number): Unsettled | null {
    const seen = this.#seen
    const since = seen?.since ?? now
    this.#seen = { look, since }
    if (seen?.look.key !== look.key) {
      if (!seen || now - since <= settleMsMax) return { reason: null }
      const name = writtenFile(seen.look, look)
      if (name !== null) return { reason: `${name} ${writtenReason}` }
    }
    this.#seen = null
    return null
  }
}

const writtenReason = 'is being written to all the time; write files whole, then rename them'

/** A file that is the same inode in both looks, with another size or time of writing. */
function writtenFile(before: Look, now: Look): string | null {
  const known = new Map(before.files.map(({ identity }) => [inodeOf(identity), identity]))
  const written = now.files.find(({ identity }) => {
    const was = known.get(inodeOf(identity))
    return was !== undefined && was !== identity
  })
  return written?.name ?? null
}
