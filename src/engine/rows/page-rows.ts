import type { FilePosition } from '../../query/question.js'
import type { Row } from '../engine.js'
import { inflateBlocks, textLengthOf } from './blocks.js'
import type { CopyOfFile } from './plan.js'
import type { Splicer } from './splice.js'

/** Makes rows of a copy's blocks. */
interface BlockReader {
  readonly file: CopyOfFile
  /** The rows of a block that have the wanted values, as the splicer makes them. */
  readonly rowsIn: (
    text: Buffer,
    block: number,
    numbers: readonly number[],
    splicer: Splicer,
  ) => readonly Row<FilePosition>[]
}

/** Rows of one block of a copy. */
interface Part {
  readonly reader: BlockReader
  readonly block: number
  /** Ascending, at least one. */
  readonly numbers: readonly number[]
}

interface PageRowsOptions {
  readonly limit: number
  readonly splicer: Splicer
  /** Takes what went wrong with a copy whose blocks had the right sums. */
  readonly refuse: (file: CopyOfFile, cause: unknown) => never
}

/** So many bytes of blocks are inflated at once, unless one read brings more. */
const waitingBytesMax = 65_536
/** So many bytes of text, too: long rows may take a hundredth of it as blocks. */
const waitingTextMax = 262_144
const roomBytesMin = 16_384

/** The rows of a page. Their blocks wait, and are inflated together, whichever copy they are of. */
export class PageRows {
  /** In order; without those that wait. */
  readonly rows: Row<FilePosition>[] = []
  readonly #options: PageRowsOptions
  #waiting: Part[] = []
  #sizes: number[] = []
  #numbers = 0
  #room = Buffer.allocUnsafeSlow(roomBytesMin)
  #used = 0
  #textBytes = 0

  constructor(options: PageRowsOptions) {
    this.#options = options
  }

  /** How many rows the page has room for, if all that wait are of it. */
  get missing(): number {
    return this.#options.limit - this.rows.length - this.#numbers
  }

  /** Memory to read blocks into, which `add` then takes. */
  room(bytes: number): Buffer {
    if (this.#room.length - this.#used < bytes) {
      const larger = Buffer.allocUnsafeSlow(2 * (this.#used + bytes))
      this.#room.copy(larger, 0, 0, this.#used)
      this.#room = larger
    }
    return this.#room.subarray(this.#used, this.#used + bytes)
  }

  /** Adds the next block of the room, as it is stored, and the rows of it that are wanted. */
  add(part: Part, size: number): void {
    this.#waiting.push(part)
    this.#sizes.push(size)
    this.#numbers += part.numbers.length
    this.#textBytes += textLengthOf(this.#room.subarray(this.#used))
    this.#used += size
  }

  /** Makes the rows that wait, if many do. */
  flushIfFull(): void {
    if (this.#used >= waitingBytesMax || this.#textBytes >= waitingTextMax) this.flush()
  }

  /** Makes the rows that wait; those of another value with the same hash are left out. */
  flush(): void {
    const { splicer, refuse } = this.#options
    const [first] = this.#waiting
    if (!first) return
    let { reader } = first
    try {
      const texts = inflateBlocks(this.#room, this.#sizes)
      for (const [index, text] of texts.entries()) {
        const part = this.#waiting[index] ?? first
        ;({ reader } = part)
        for (const row of reader.rowsIn(text, part.block, part.numbers, splicer)) {
          this.rows.push(row)
        }
      }
    } catch (cause) {
      refuse(reader.file, cause)
    }
    this.#waiting = []
    this.#sizes = []
    this.#numbers = 0
    this.#used = 0
    this.#textBytes = 0
  }
}
