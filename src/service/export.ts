import type { Column } from '../columns/column.js'
import { asServiceError, unavailable } from '../errors.js'
import type { ServiceError } from '../errors.js'
import type { RawQuestion } from '../query/raw-question.js'
import type { Version } from '../versions/version.js'

/** A paid page of an export. */
interface ExportPage {
  readonly version: Version
  readonly rows: readonly Buffer[]
  readonly columns: readonly Pick<Column, 'name'>[]
  readonly nextCursor: string | null
}

/** The parts of an export, in order: pages, then the end or a failure. */
export type ExportPart<Page> =
  | { readonly kind: 'page'; readonly page: Page }
  /** Every row was sent; `rows` counts those in this answer. */
  | { readonly kind: 'end'; readonly rows: number; readonly version: Version }
  /** The next page failed. The cursor continues after the last page sent. */
  | { readonly kind: 'failure'; readonly error: ServiceError; readonly cursor: string }

/** An export with a paid first page. */
export interface Export<Page> {
  readonly first: Page
  /** The first page and the rest; each page is read and paid when it is requested. */
  readonly parts: AsyncIterable<ExportPart<Page>>
}

/**
 * Reads the first page (null), or the next page, with the same columns even if the registry has
 * changed since.
 */
type ReadPage<Page> = (from: Pick<RawQuestion, 'cursor' | 'select'> | null) => Promise<Page>

const exportsMax = 32
const exportsOfClientMax = 4

/** Limits the open exports: each may hold a page in memory while the client reads it. */
export class OpenExports {
  /** Client → number of open exports, above zero. */
  readonly #open = new Map<string, number>()

  /**
   * Opens an export. A failure before the end of the first page rejects; a later failure is the
   * last part. The export closes when its parts end, or when the signal aborts.
   * @throws service_unavailable if too many are open
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

  /** Returns a function that releases the place; it may be called more than once. */
  #enter(client: string): () => void {
    const openOfClient = this.#open.get(client) ?? 0
    if (openOfClient >= exportsOfClientMax) {
      throw tooMany(`${openOfClient} of your exports are open already.`)
    }
    const all = [...this.#open.values()].reduce((sum, each) => sum + each, 0)
    if (all >= exportsMax) throw tooMany('Too many exports are open.')
    this.#open.set(client, openOfClient + 1)
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
      const { nextCursor: cursor, columns } = page
      if (cursor === null) {
        yield { kind: 'end', rows, version: page.version }
        return
      }
      try {
        page = await readPage({ cursor, select: columns.map(({ name }) => name) })
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
  return unavailable(`${what} Try again when one ends.`, 30)
}
