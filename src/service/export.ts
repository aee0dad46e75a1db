import { ServiceError, asServiceError } from '../errors.js'
import type { RawQuestion } from '../query/raw-question.js'
import type { Version } from '../versions/version.js'

/** A page of an export, paid for. */
interface ExportPage {
  readonly version: Version
  readonly rows: readonly Buffer[]
  readonly columns: readonly string[]
  readonly nextCursor: string | null
}

/** What is sent of an export, in this order: pages, then how it ended. */
export type ExportPart<Page> =
  | { readonly kind: 'page'; readonly page: Page }
  /** Every row was sent; so many of them in this answer. */
  | { readonly kind: 'end'; readonly rows: number; readonly version: Version }
  /** The next page failed. The cursor continues after the last one. */
  | { readonly kind: 'failure'; readonly error: ServiceError; readonly cursor: string }

/** An export whose first page is paid for. */
export interface Export<Page> {
  readonly first: Page
  /** The first page and all that follows; a page is read and paid for when it is asked for. */
  readonly parts: AsyncIterable<ExportPart<Page>>
}

/**
 * Reads the first page (null), or the page that follows another one with the same columns, even
 * when the registry has changed since.
 */
type ReadPage<Page> = (from: Pick<RawQuestion, 'cursor' | 'select'> | null) => Promise<Page>

const exportsMax = 32
const exportsOfClientMax = 4
const retryAfterSeconds = 30

/** Bounds how many exports are open: each may hold a page in memory for as long as it is read. */
export class OpenExports {
  /** Client → number of open exports, above zero. */
  readonly #open = new Map<string, number>()

  /**
   * Opens an export; a failure up to its first page rejects, and a later one is its last part. It
   * is over when its parts are, or when the signal aborts.
   * @throws service_unavailable when too many are open
   */
  async open<Page extends ExportPage>(
    client: string,
    signal: AbortSignal,
    readPage: ReadPage<Page>,
  ): Promise<Export<Page>> {
    const leave = this.#enter(client)
    signal.addEventListener('abort', leave, { once: true })
    try {
      const first = await readPage(null)
      return { first, parts: partsFrom(first, readPage, leave) }
    } catch (cause) {
      leave()
      throw cause
    }
  }

  /** Returns a function that leaves; it may be called more than once. */
  #enter(client: string): () => void {
    const own = this.#open.get(client) ?? 0
    if (own >= exportsOfClientMax) throw tooMany(`${own} of your exports are open already.`)
    const all = [...this.#open.values()].reduce((sum, each) => sum + each, 0)
    if (all >= exportsMax) throw tooMany('Too many exports are open.')
    this.#open.set(client, own + 1)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      const left = (this.#open.get(client) ?? 1) - 1
      if (left > 0) this.#open.set(client, left)
      else this.#open.delete(client)
    }
  }
}

async function* partsFrom<Page extends ExportPage>(
  first: Page,
  readPage: ReadPage<Page>,
  leave: () => void,
): AsyncGenerator<ExportPart<Page>> {
  let rows = 0
  try {
    for (let page = first; ;) {
      rows += page.rows.length
      yield { kind: 'page', page }
      const { nextCursor: cursor, columns: select } = page
      if (cursor === null) {
        yield { kind: 'end', rows, version: page.version }
        return
      }
      try {
        page = await readPage({ cursor, select })
      } catch (cause) {
        yield { kind: 'failure', error: asServiceError(cause), cursor }
        return
      }
    }
  } finally {
    leave()
  }
}

function tooMany(what: string): ServiceError {
  return new ServiceError('service_unavailable', `${what} Try again when one ends.`, {
    retryAfterSeconds,
  })
}
