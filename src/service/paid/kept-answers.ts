/** Larger answers are not kept. */
const answerBytesMax = 1_000_000
const bytesMax = 32_000_000
/** What an answer takes beside its bytes, and each of its rows. */
const overheadBytes = 200

/** The parts of an answer that count. */
export interface Keepable {
  readonly rows: readonly (Buffer | { readonly encoded: Buffer })[]
  readonly file?: Buffer
}

/** How a cache is used. */
export interface CacheUse {
  readonly hits: number
  readonly misses: number
  readonly bytes: number
}

/**
 * A cache of small answers, by entity tag: whoever asks the same again gets the same bytes. The
 * answer that was not asked for the longest time leaves first.
 */
export class KeptAnswers<Answer extends Keepable> {
  readonly #entries = new Map<string, { readonly answer: Answer; readonly bytes: number }>()
  #bytes = 0
  #hits = 0
  #misses = 0

  /** Returns the kept answer, or makes one and keeps it if it is small. */
  async get(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const known = this.#entries.get(key)
    if (known) this.#hits += 1
    else this.#misses += 1
    const entry = known ?? entryOf(await make())
    if (entry.bytes <= answerBytesMax) this.#keep(key, entry)
    return entry.answer
  }

  /** Since the start, and the bytes now. */
  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses, bytes: this.#bytes }
  }

  #keep(key: string, entry: { readonly answer: Answer; readonly bytes: number }): void {
    this.#drop(key)
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= bytesMax) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}

function entryOf<Answer extends Keepable>(answer: Answer) {
  const { rows, file } = answer
  const texts = rows.map((row) => (Buffer.isBuffer(row) ? row : row.encoded))
  const bytes = texts.reduce((sum, text) => sum + text.length + overheadBytes, overheadBytes)
  return { answer, bytes: bytes + (file?.length ?? 0) }
}
