import { ServiceError } from '../errors.js'
import type { AnswerPage, Answers } from './answers.js'
import type { AskServer } from './ask-server.js'

/** A filter of `POST /v1/<dataset>/query`. */
export interface Filter {
  readonly column: string
  readonly op: string
  readonly value?: unknown
}

/** What a list is asked for. */
export interface ListQuestion {
  readonly dataset: string
  readonly key: string
  readonly match: 'newest' | 'all' | 'wide'
  readonly where: readonly Filter[]
  /** Filters of the values of the history column, newest first; one without a filter for all. */
  readonly steps: readonly (readonly Filter[])[]
  /** The key first. */
  readonly select: readonly string[]
}

const keysAtOnce = 1000
/** A body has at most 1 MiB; a letter may take six bytes in it. */
const lettersAtOnce = 150_000
const pageRowsMax = 10_000

/** As many of the first keys as one request takes. */
export function firstKeys(keys: readonly string[], at = 0): readonly string[] {
  let [end, letters] = [at, 0]
  while (end < keys.length && end - at < keysAtOnce) {
    letters += keys[end]?.length ?? 0
    if (letters > lettersAtOnce && end > at) break
    end += 1
  }
  return keys.slice(at, end)
}

/** The filters that find the rows of some keys. */
export function filtersOf(question: ListQuestion, keys: readonly string[]): readonly Filter[] {
  return [{ column: question.key, op: 'in', value: keys }, ...question.where]
}

/** Asks the keys with the filters of a step, from a cursor or from the first row. */
type NextPage = (
  keys: readonly string[],
  step: readonly Filter[],
  cursor: string | null,
) => Promise<AnswerPage>

/**
 * Asks for all keys, and keeps the answers. What an earlier run has paid is not asked again: the
 * same answers lead to the same questions. `report` is told for how many keys all is known.
 * @throws ServiceError when the quota has ended
 */
export async function askKeys(
  question: ListQuestion,
  keys: readonly string[],
  limitMax: number,
  answers: Answers,
  ask: AskServer,
  report: (keysDone: number) => void,
): Promise<void> {
  const limit = Math.min(limitMax, pageRowsMax)
  const send = async (...[asked, step, cursor]: Parameters<NextPage>): Promise<AnswerPage> => {
    const filters = [...filtersOf(question, asked), ...step]
    const body = { filters, select: question.select, limit, cursor }
    const { text, headers } = await ask(`/v1/${question.dataset}/query`, body)
    const version = headers.get('x-dataset-version')
    if (version === null || !/^$|\n$/.test(text.slice(-1))) {
      throw new Error('The answer has no rows: is --server the address of the data service?')
    }
    const facts = {
      version,
      cursor: headers.get('x-next-cursor'),
      charged: Number(headers.get('x-rows-charged') ?? 0),
      isFirst: cursor === null,
    }
    return answers.add(text, facts, asked)
  }
  const next: NextPage = async (asked, step, cursor) => {
    const recorded = await answers.next(asked)
    if (recorded) return recorded
    return send(asked, step, cursor).catch((cause: unknown) => {
      // The version of a cursor is kept for a day; a quota may have ended for longer.
      const isOld = cursor !== null && cause instanceof ServiceError && cause.code === 'bad_request'
      if (!isOld) throw cause
      return send(asked, step, null)
    })
  }
  if (question.match === 'newest') await askNewest(question.steps, keys, next, report)
  else await askAll(keys, next, report)
}

/** One row of each key: each further step only for keys without a row. */
async function askNewest(
  steps: ListQuestion['steps'],
  keys: readonly string[],
  next: NextPage,
  report: (keysDone: number) => void,
): Promise<void> {
  let [waiting, found] = [keys, 0]
  for (const step of steps) {
    const missed: string[] = []
    let [at, left] = [0, [] as readonly string[]]
    while (left.length > 0 || at < waiting.length) {
      const asked = left.length > 0 ? left : firstKeys(waiting, at)
      if (left.length === 0) at += asked.length
      const page = await next(asked, step, null)
      const known = new Set(page.keys)
      const others = asked.filter((key) => !known.has(key))
      found += asked.length - others.length
      report(found)
      // Keys that are found are not asked for the rest of the page, which may repeat them.
      left = page.cursor === null ? [] : others
      if (page.cursor === null) missed.push(...others)
      else if (others.length === asked.length) throw new Error('The server found other keys.')
    }
    waiting = missed
  }
}

/** All rows of each key, page by page. */
async function askAll(
  keys: readonly string[],
  next: NextPage,
  report: (keysDone: number) => void,
): Promise<void> {
  for (let at = 0; at < keys.length;) {
    const asked = firstKeys(keys, at)
    let cursor: string | null = null
    do ({ cursor } = await next(asked, [], cursor))
    while (cursor !== null)
    at += asked.length
    report(at)
  }
}
