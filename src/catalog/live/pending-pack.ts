import { join } from 'node:path'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import { identityOrNull } from '../../versions/files/disk-state.js'
import { packOrder, searchedColumns } from '../../versions/packing/pack-order.js'
import { packRecordName } from '../../versions/packing/pack-record.js'
import { draftOf } from '../../versions/packing/packer.js'
import type { PackOrder } from '../../versions/packing/packer.js'
import type { Content } from '../../versions/store/manifest.js'
import type { Version } from '../../versions/version.js'

/** By then, disk or memory may have been freed. */
const retryMs = 3_600_000

/** The packed copy of the served content: where it is or would be, and whether it is to be made. */
export class PendingPack {
  #target: string | null = null
  #order: PackOrder | null = null
  /** A failed order is not retried for the same files for `retryMs`. */
  #failed: { readonly target: string; readonly reason: string; readonly at: number } | null = null

  #wasPacked = false
  /** The served files had a copy when they were others, and have none. */
  #isLost = false

  /** Notes what is served: files that replace packed ones have no copy until one is made again. */
  noteServed({ origins }: Pick<Content, 'origins'>, { pack }: Pick<DatasetEntry, 'pack'>): void {
    const isPacked = origins !== null
    this.#isLost = !isPacked && pack !== 'auto' && (this.#isLost || this.#wasPacked)
    this.#wasPacked = isPacked
  }

  /** What the owner may want to do about a copy that was lost. */
  warnings(dataset: string): readonly string[] {
    if (!this.#isLost) return []
    return [`the packed copy was of other files: das dataset pack ${dataset} makes one of these`]
  }

  /** The order that waits to be carried out; null without one. */
  get order(): PackOrder | null {
    return this.failure === null ? this.#order : null
  }

  /** Why the order failed; null if it did not. */
  get failure(): string | null {
    return this.#failed && this.#failed.target === this.#order?.target ? this.#failed.reason : null
  }

  /** Changes when another process makes the copy. */
  async copyIdentity(): Promise<string | null> {
    return this.#target === null ? null : identityOrNull(join(this.#target, packRecordName))
  }

  /** The folders that packing writes to, also by another process. */
  get folders(): readonly string[] {
    const target = this.#target
    return target === null ? [] : [target, draftOf(target)]
  }

  /** Takes the served version. An order for the same result stays, because it may be running. */
  update(target: string, version: Version | null, isWanted: boolean): void {
    this.#target = target
    if (!isWanted || !version || version.rows === 0) return this.drop()
    const isSame = this.#order?.search.join('\n') === searchedColumns(version).join('\n')
    if (this.#order?.target === target && isSame) return
    this.#order = packOrder(version, target, true, null)
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
