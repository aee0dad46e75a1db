import {
  closeSync,
  createReadStream,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import type { AnswerPage, Answers, PageFacts } from '../../lists/answers.js'
import { textsOf } from '../../row-texts.js'
import { parsedJson } from '../../text.js'

interface StoredRow {
  readonly at: number
  readonly bytes: Buffer
}

/** The first line of a file: what was ordered, and how it is asked. */
interface Head<Plan> {
  readonly order: object
  readonly plan: Plan
}

const headBytesMax = 4 * 1024 ** 2
const lineFeed = 10
const factsStart = '{"cursor":'

/**
 * The paid answers of one run, on the disk before the next question is sent: lines of rows, the key
 * first, and after the rows of each answer a line of facts. What a break cut off is dropped.
 * A run that goes on keeps the plan of the first one.
 */
export class AnswersFile implements Answers {
  readonly #file: number
  readonly #keyOf: (json: string) => string
  readonly #places = new Map<string, number[]>()
  readonly #recorded: AsyncGenerator<readonly [PageFacts, readonly StoredRow[]]>
  #end: number
  charged = 0
  readonly versions = new Set<string>()

  /**
   * Opens the answers of an earlier run to the same `order`, or begins new ones with this `plan`.
   * `keyOf` makes a key of its JSON.
   * @throws Error for the answers to another order
   */
  static open<Plan>(path: string, order: object, plan: Plan, keyOf: (json: string) => string) {
    const file = openSync(path, existsSync(path) ? 'r+' : 'wx+')
    const first = Buffer.alloc(headBytesMax)
    const found = first.subarray(0, readSync(file, first, 0, headBytesMax, 0))
    const end = found.indexOf(lineFeed)
    const head = parsedJson(found.toString('utf8', 0, Math.max(0, end))) as Head<Plan> | undefined
    if (head && JSON.stringify(head.order) === JSON.stringify(order)) {
      return { plan: head.plan, answers: new AnswersFile(path, file, end + 1, keyOf) }
    }
    const begin = Buffer.from(`${JSON.stringify({ order, plan })}\n`)
    // A break may have cut off the first line too.
    if (begin.length <= headBytesMax && begin.subarray(0, found.length).equals(found)) {
      writeAt(file, begin, 0)
      return { plan, answers: new AnswersFile(path, file, begin.length, keyOf) }
    }
    closeSync(file)
    throw new Error(
      `${path} has the answers to another list or another question. Repeat that command, or ` +
        'remove the file: its rows are then paid again.',
    )
  }

  private constructor(path: string, file: number, start: number, keyOf: (json: string) => string) {
    this.#file = file
    this.#keyOf = keyOf
    this.#end = start
    this.#recorded = pagesOf(path, start)
  }

  async next(asked: readonly string[]): Promise<AnswerPage | null> {
    const { value, done } = await this.#recorded.next()
    if (!done) return this.#index(...value, asked)
    ftruncateSync(this.#file, this.#end)
    return null
  }

  add(rows: string, facts: PageFacts, asked: readonly string[]): AnswerPage {
    const bytes = Buffer.from(rows + lineOf(facts))
    writeAt(this.#file, bytes, this.#end)
    fdatasyncSync(this.#file)
    return this.#index(facts, [...linesOf(bytes, this.#end)].slice(0, -1), asked)
  }

  count(key: string): number {
    return (this.#places.get(key)?.length ?? 0) / 2
  }

  rowsOf(key: string): readonly (readonly string[])[] {
    const places = this.#places.get(key) ?? []
    return places.flatMap((at, index) => {
      if (index % 2 === 1) return []
      const bytes = Buffer.alloc(places[index + 1] ?? 0)
      readSync(this.#file, bytes, 0, bytes.length, at)
      return [textsOf(bytes.toString()).cells]
    })
  }

  close(): void {
    closeSync(this.#file)
  }

  #index(facts: PageFacts, rows: readonly StoredRow[], asked: readonly string[]): AnswerPage {
    if (facts.isFirst) for (const key of asked) this.#places.delete(key)
    const keys = rows.map(({ at, bytes }) => {
      const key = this.#keyOf(textsOf(bytes.toString()).cells[0] ?? '')
      const places = this.#places.get(key) ?? []
      places.push(at, bytes.length)
      this.#places.set(key, places)
      return key
    })
    const last = rows.at(-1)
    const rowsEnd = last ? last.at + last.bytes.length + 1 : this.#end
    this.#end = rowsEnd + Buffer.byteLength(lineOf(facts))
    this.charged += facts.charged
    this.versions.add(facts.version)
    return { ...facts, keys }
  }
}

function writeAt(file: number, bytes: Buffer, start: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(file, bytes, done, bytes.length - done, start + done)
  }
}

/** The cursor is first: no column can have this name, so no row begins like it. */
function lineOf({ cursor, ...facts }: PageFacts): string {
  return `${JSON.stringify({ cursor, ...facts })}\n`
}

/** The answers of a file that are whole. */
async function* pagesOf(path: string, start: number) {
  let [rest, at, rows] = [Buffer.of(), start, [] as StoredRow[]]
  for await (const bytes of createReadStream(path, { start })) {
    rest = Buffer.concat([rest, bytes as Buffer])
    for (const line of linesOf(rest, at)) {
      const text = line.bytes.toString()
      const facts = text.startsWith(factsStart) ? (parsedJson(text) as PageFacts | undefined) : null
      if (facts === undefined) return
      if (facts) yield [facts, rows] as const
      if (facts) rows = []
      else rows.push(line)
    }
    const used = rest.lastIndexOf(lineFeed) + 1
    ;[rest, at] = [rest.subarray(used), at + used]
  }
}

function* linesOf(bytes: Buffer, start: number): Generator<StoredRow> {
  let from = 0
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, from)) {
    yield { at: start + from, bytes: bytes.subarray(from, end) }
    from = end + 1
  }
}
