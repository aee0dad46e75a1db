import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { storeReason } from '../versions/objects/store-reason.js'
import { CopyRefused, copyPlace } from '../versions/packing/copy-record.js'
import { fetchCopy, keptOf } from '../versions/packing/fetch-copy.js'
import type { CopyOptions, CopyParts, FetchedCopy } from '../versions/packing/fetch-copy.js'
import { packRecordName } from '../versions/packing/pack-record.js'
import { draftOf } from '../versions/packing/packer.js'
import type { PackOrder } from '../versions/packing/packer.js'
import { uploadCopy } from '../versions/packing/upload-copy.js'

interface SharedCopiesParts extends CopyParts {
  /** The `pack_to` of a dataset; null without one. */
  readonly packTo: (dataset: string) => string | null
  readonly logger: FastifyBaseLogger
}

/**
 * Packed copies in buckets, which one server makes and the others take. The log says what goes
 * wrong with them, and the server packs for itself.
 */
export class SharedCopies {
  readonly #parts: SharedCopiesParts

  constructor(parts: SharedCopiesParts) {
    this.#parts = parts
  }

  /** Fetches the copy of an order, to be verified by packing; null without one. */
  async fetch(order: PackOrder, options: CopyOptions): Promise<FetchedCopy | null> {
    const { packTo, logger } = this.#parts
    const folder = packTo(order.dataset)
    if (folder === null) return null
    const { dataset } = order
    try {
      const fetched = await fetchCopy(order, copyPlace(folder, order), this.#parts, options)
      if (fetched) logger.info({ dataset, files: fetched.size }, 'packed copy fetched')
      return fetched
    } catch (cause) {
      options.signal.throwIfAborted()
      this.#warnRefused(order, refusal(cause))
      return null
    }
  }

  /** The fetched copy can't be packed from: the next try begins without it. */
  async refuse(order: PackOrder, cause: unknown): Promise<void> {
    this.#warnRefused(order, cause instanceof Error ? cause.message : String(cause))
    // Only the record: another process may have begun to pack into the folder.
    await rm(join(draftOf(order.target), packRecordName), { force: true })
  }

  /** The number of fetched files that are served; packing has written the others again. */
  async kept(order: PackOrder, fetched: FetchedCopy): Promise<number> {
    const kept = await keptOf(fetched, order.target)
    const others = fetched.size - kept
    if (others > 0) this.#warnRefused(order, `${others} of its files are not those of the dataset`)
    return kept
  }

  /** Uploads the packed copy of an order, if the dataset has a bucket for it. */
  async upload(order: PackOrder, options: CopyOptions): Promise<void> {
    const { packTo, logger } = this.#parts
    const folder = packTo(order.dataset)
    if (folder === null) return
    const { dataset } = order
    try {
      await uploadCopy(order, copyPlace(folder, order), this.#parts, options)
      logger.info({ dataset }, 'packed copy uploaded')
    } catch (cause) {
      if (options.signal.aborted) return
      const reason = storeReason(cause, "can't be written")
      logger.warn({ dataset, reason }, 'packed copy not uploaded')
    }
  }

  #warnRefused({ dataset }: PackOrder, reason: string): void {
    this.#parts.logger.warn({ dataset, reason }, 'packed copy of the bucket refused')
  }
}

function refusal(cause: unknown): string {
  return cause instanceof CopyRefused ? cause.message : storeReason(cause, "can't be fetched")
}
