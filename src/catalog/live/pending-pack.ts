import type { DatasetEntry } from '../../registry/registry-schema.js'
import { packOrder } from '../../versions/packing/pack-order.js'
import { packedFolder } from '../../versions/packing/packed-content.js'
import { draftOf } from '../../versions/packing/packer.js'
import type { PackOrder } from '../../versions/packing/packer.js'
import type { Content } from '../../versions/store/manifest.js'
import type { Version } from '../../versions/version.js'
import { keySourceNames } from '../open-dataset.js'

/** By then, disk or memory may have been freed. */
const retryMs = 3_600_000

/** Whether the served version is still to be packed, and why packing failed. */
export class PendingPack {
  #order: PackOrder | null = null
  /** A failed order is not retried for the same files for `retryMs`. */
  #failed: { readonly target: string; readonly reason: string; readonly at: number } | null = null

  /** The order that waits to be carried out; null without one. */
  get order(): PackOrder | null {
    return this.failure === null ? this.#order : null
  }

  /** Why the order failed; null if it did not. */
  get failure(): string | null {
    return this.#failed && this.#failed.target === this.#order?.target ? this.#failed.reason : null
  }

  /** The folders that packing writes to. */
  get folders(): readonly string[] {
    return this.#order ? [this.#order.target, draftOf(this.#order.target)] : []
  }

  /** Takes the served content. The order for the same files stays, because it may be running. */
  update(parent: string, entry: DatasetEntry, content: Content, version: Version | null): void {
    const isWanted = entry.pack === 'auto' && content.origins === null
    if (!isWanted || !version || version.rows === 0) return this.drop()
    const sources = content.files.map(({ source }) => source)
    const target = packedFolder(parent, sources, keySourceNames(entry))
    if (this.#order?.target !== target) this.#order = packOrder(version, target, null)
  }

  /** Packs nothing until the next update. */
  drop(): void {
    this.#order = null
  }

  fail({ target }: PackOrder, reason: string, now: number): void {
    this.#failed = { target, reason, at: now }
  }

  /** Allows an order again that failed `retryMs` ago. */
  retry(now: number): void {
    if (this.#failed && now - this.#failed.at >= retryMs) this.#failed = null
  }
}
