import { textsOf } from '../row-texts.js'

/** What is known of an answer beside its rows. */
export interface PageFacts {
  /** Null on the last page. */
  readonly cursor: string | null
  readonly version: string
  /** Rows that it cost. */
  readonly charged: number
  /** It is no page that follows: earlier ones about the same keys don't count. */
  readonly isFirst: boolean
}

export interface AnswerPage extends PageFacts {
  readonly keys: readonly string[]
}

/** The paid answers of a run, and of those before it that did not end. */
export interface Answers {
  /** Rows of all pages so far. */
  readonly charged: number
  readonly versions: ReadonlySet<string>
  /** The next answer of an earlier run, about these keys; null after the last. */
  readonly next: (asked: readonly string[]) => AnswerPage | null | Promise<AnswerPage | null>
  /** Keeps an answer about these keys: lines of rows, the key first. */
  readonly add: (rows: string, facts: PageFacts, asked: readonly string[]) => AnswerPage
  /** The number of rows of a key. */
  readonly count: (key: string) => number
  /** The rows of a key, as the JSON texts of their cells. */
  readonly rowsOf: (key: string) => readonly (readonly string[])[]
}

/** Answers in memory; `again` lets a next run go on after them. `keyOf` makes a key of its JSON. */
export function answersInMemory(keyOf: (json: string) => string): Answers & { again: () => void } {
  const pages: AnswerPage[] = []
  const rowsByKey = new Map<string, (readonly string[])[]>()
  const versions = new Set<string>()
  let at = 0
  const answers = {
    charged: 0,
    versions,
    again: () => {
      at = 0
    },
    next: () => pages[at++] ?? null,
    add: (rows: string, facts: PageFacts, asked: readonly string[]) => {
      if (facts.isFirst) for (const key of asked) rowsByKey.delete(key)
      const keys = rows.split('\n').flatMap((line) => {
        if (line === '') return []
        const { cells } = textsOf(line)
        const key = keyOf(cells[0] ?? '')
        const own = rowsByKey.get(key) ?? []
        own.push(cells)
        rowsByKey.set(key, own)
        return [key]
      })
      const page = { ...facts, keys }
      pages.push(page)
      at = pages.length
      answers.charged += facts.charged
      versions.add(facts.version)
      return page
    },
    count: (key: string) => rowsByKey.get(key)?.length ?? 0,
    rowsOf: (key: string) => rowsByKey.get(key) ?? [],
  }
  return answers
}
