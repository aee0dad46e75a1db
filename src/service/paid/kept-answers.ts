/** Larger answers are not kept. */
const answerBytesMax = 200_000
const bytesMax = 8_000_000
/** What an answer takes beside its bytes, and each of its rows. */
const overheadBytes = 200

/** The parts of an answer that count. */
export interface Keepable {
  readonly rows: readonly (Buffer | { readonly encoded: Buffer })[]
  readonly file?: Buffer
}

interface Entry<Answer> {
  readonly answer: Answer
  readonly bytes: number
}

/** How a cache is used. */
export interface CacheUse {
  readonly hits: number
  readonly misses: number
  readonly bytes: number
}

/**
 * A cache of small answers, by entity tag: the same question gets the same bytes again. The
 * answer that was not asked for the longest time leaves first.
 */
export class KeptAnswers<Answer extends Keepable> {
  readonly #entries = new Map<string, Entry<Answer>>()
  #bytes = 0
  #hits = 0
  #misses = 0

  /** Returns the kept answer, or makes one and keeps it if it is small. */
  async get(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const known = this.#entries.get(key)
    if (known) {
      this.#hits += 1
      return this.#keep(key, known)
    }
    this.#misses += 1
    const answer = await make()
    const bytes = bytesOf(answer)
    if (bytes > answerBytesMax) return answer
    return this.#keep(key, { answer: withOwnBytes(answer), bytes })
  }

  /** Since the start, and the bytes now. */
  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses, bytes: this.#bytes }
  }

  #keep(key: string, entry: Entry<Answer>): Answer {
    this.#drop(key)
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= bytesMax) break
      this.#drop(oldest)
    }
    return entry.answer
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}

function bytesOf({ rows, file }: Keepable): number {
  const bytes = rows.reduce((sum, row) => sum + textOf(row).length + overheadBytes, overheadBytes)
  return bytes + (file?.length ?? 0)
}

/** The engine's rows are parts of far larger buffers, which a kept answer must not hold. */
function withOwnBytes<Answer extends Keepable>(answer: Answer): Answer {
  const all = Buffer.allocUnsafeSlow(answer.rows.reduce((sum, row) => sum + textOf(row).length, 0))
  let end = 0
  const own = (text: Buffer) => {
    const start = end
    end += text.copy(all, start)
    return all.subarray(start, end)
  }
  const rows = answer.rows.map((row) =>
    Buffer.isBuffer(row) ? own(row) : { ...row, encoded: own(row.encoded) },
  )
  return { ...answer, rows }
}

function textOf(row: Keepable['rows'][number]): Buffer {
  return Buffer.isBuffer(row) ? row : row.encoded
}
