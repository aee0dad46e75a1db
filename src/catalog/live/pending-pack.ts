import type { DatasetEntry } from '../../registry/registry-schema.js'
import { packOrder } from '../../versions/packing/pack-order.js'
import { packedFolder } from '../../versions/packing/packed-content.js'
import { draftOf } from '../../versions/packing/packer.js'
import type { PackOrder } from '../../versions/packing/packer.js'
import type { Content } from '../../versions/store/content.js'
import type { Version } from '../../versions/version.js'
import { keySourceNames } from '../open-dataset.js'

/** A disk may be emptied, and memory freed. */
const retryMs = 3_600_000

/** Whether the version that is served is to be packed, and what became of that. */
export class PendingPack {
  #order: PackOrder | null = null
  /** An order that was not fulfilled is not tried again for the same files, for a while. */
  #failed: { readonly target: string; readonly reason: string; readonly at: number } | null = null

  /** The order that waits to be fulfilled; null where none does. */
  get order(): PackOrder | null {
    return this.failure === null ? this.#order : null
  }

  /** Why the order can't be fulfilled; null where nothing speaks against it. */
  get failure(): string | null {
    return this.#failed && this.#failed.target === this.#order?.target ? this.#failed.reason : null
  }

  /** The folders that packing works in. */
  get folders(): readonly string[] {
    return this.#order ? [this.#order.target, draftOf(this.#order.target)] : []
  }

  /** What is served now. The order stays the same one for the same files: it may be under way. */
  update(parent: string, entry: DatasetEntry, content: Content, version: Version | null): void {
    const isWanted = entry.pack === 'auto' && content.origins === null
    if (!isWanted || !version || version.rows === 0) {
      this.#order = null
      return
    }
    const sources = content.files.map(({ source }) => source)
    const target = packedFolder(parent, sources, keySourceNames(entry))
    if (this.#order?.target !== target) this.#order = packOrder(version, target, null)
  }

  /** What was served is not any more: nothing is to be packed before another look. */
  drop(): void {
    this.#order = null
  }

  fail({ target }: PackOrder, reason: string, now: number): void {
    this.#failed = { target, reason, at: now }
  }

  /** Time has passed: what failed long ago waits again. */
  retry(now: number): void {
    if (this.#failed && now - this.#failed.at >= retryMs) this.#failed = null
  }
}
