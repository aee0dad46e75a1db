import { quotedName } from '../columns/call-text.js'
import { filtersOf, firstKeys } from './ask-keys.js'
import type { ListQuestion } from './ask-keys.js'
import type { AskServer } from './ask-server.js'
import { historyValues } from './dataset-facts.js'
import type { DatasetFacts } from './dataset-facts.js'

/** What asking for a list costs; null = not known, or no limit. */
export interface ListPrice {
  readonly requestsMin: number
  readonly requestsMax: number | null
  readonly rowsMax: number | null
  /** Counted by the server, for `--exact`. */
  readonly rowsExact: number | null
  /** Rows that the token has left, now. */
  readonly rowsLeft: number | null
}

/** The price of a list, which is free to ask; exact, it costs a row for each 1,000 keys. */
export async function listPrice(
  question: ListQuestion,
  keys: readonly string[],
  facts: DatasetFacts,
  ask: AskServer,
  isExact: boolean,
): Promise<ListPrice> {
  const { match, key, where, steps } = question
  const parts = partsOf(keys)
  // The dataset says which columns name a row: then each key has one of each history value.
  const isOfOne = facts.key.includes(key)
  const isUnique = isOfOne && facts.key.every((name) => name === key || name === facts.history)
  const values = facts.history === null ? 1 : (historyValues(facts, where)?.length ?? null)
  const perKey = match === 'newest' ? 1 : values
  const rowsMax = isUnique && perKey !== null ? keys.length * perKey : null
  const isPaged = match !== 'newest' || !isUnique
  return {
    requestsMin: parts.length,
    requestsMax: isPaged ? null : parts.length * steps.length,
    rowsMax,
    rowsExact: isExact ? await countRows(question, parts, ask) : null,
    rowsLeft: await rowsLeft(question.dataset, ask),
  }
}

function partsOf(keys: readonly string[]): readonly (readonly string[])[] {
  const parts: (readonly string[])[] = []
  let part = firstKeys(keys)
  for (let at = 0; part.length > 0; part = firstKeys(keys, at)) {
    parts.push(part)
    at += part.length
  }
  return parts
}

/** The rows that the list will cost: `newest` pays one of each key that is found. */
async function countRows(
  question: ListQuestion,
  parts: readonly (readonly string[])[],
  ask: AskServer,
): Promise<number> {
  const { dataset, match, key } = question
  const measure = match === 'newest' ? `n:distinct(${quotedName(key)})` : 'n:count'
  let rows = 0
  for (const part of parts) {
    const body = { filters: filtersOf(question, part), measures: [measure] }
    const { text } = await ask(`/v1/${dataset}/aggregate`, body)
    const { data } = JSON.parse(text) as { data: readonly { n: number }[] }
    rows += data[0]?.n ?? 0
  }
  return rows
}

async function rowsLeft(dataset: string, ask: AskServer): Promise<number | null> {
  const { text } = await ask('/v1/account')
  const { datasets, global } = JSON.parse(text) as {
    datasets: readonly { name: string; rows: { remaining: number | null } }[]
    global: { remaining: number } | null
  }
  const own = datasets.find(({ name }) => name === dataset)?.rows.remaining ?? null
  const all = global?.remaining ?? null
  return own === null || all === null ? (own ?? all) : Math.min(own, all)
}
