import { pageBytes } from './layout.js'

/** 64 MiB of pages, a power of two. */
const slotsMax = 16_384

interface KeptPage {
  readonly copy: number
  readonly offset: number
  readonly bytes: Buffer
}

/**
 * Pages of all open copies that were read last. Each has one slot, which the next page of that slot
 * takes: a list of companies asks for hundreds, and the order of their use would cost more to keep
 * than a page to read again.
 */
export class KeptPages {
  readonly #slots: (KeptPage | undefined)[] = []
  #copies = 0

  /** A number that no other copy has, or had before it was closed. */
  nextCopy(): number {
    this.#copies += 1
    return this.#copies
  }

  find(copy: number, offset: number): Buffer | undefined {
    const kept = this.#slots[slotOf(copy, offset)]
    return kept?.copy === copy && kept.offset === offset ? kept.bytes : undefined
  }

  keep(copy: number, offset: number, bytes: Buffer): void {
    this.#slots[slotOf(copy, offset)] = { copy, offset, bytes }
  }
}

/** Pages that lie side by side have different slots, and so have the first ones of copies. */
function slotOf(copy: number, offset: number): number {
  const page = Math.floor(offset / pageBytes)
  return (Math.imul(copy, 0x9e3779b1) + page) & (slotsMax - 1)
}
