import { hash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ServiceError, badRequest } from '../../errors.js'
import { askKeys } from '../../lists/ask-keys.js'
import type { ListQuestion } from '../../lists/ask-keys.js'
import type { AskServer } from '../../lists/ask-server.js'
import { keyColumn, readFacts } from '../../lists/dataset-facts.js'
import type { DatasetFacts } from '../../lists/dataset-facts.js'
import { finishList } from '../../lists/finish-list.js'
import { keyJudge, plainKey } from '../../lists/judge-key.js'
import { planOf } from '../../lists/list-plan.js'
import { listPrice } from '../../lists/list-price.js'
import { freeNames, statusName } from '../../lists/new-columns.js'
import { openList } from '../../lists/open-list.js'
import type { ListOrder } from '../../lists/open-list.js'
import { readKeys } from '../../lists/read-keys.js'
import { textOfJson } from '../../row-texts.js'
import { quoted } from '../../text.js'
import { fileBytes } from '../../versions/tables/file-text.js'
import { tableFileOf } from '../../versions/tables/table-file.js'
import type { Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { progressReport } from '../progress.js'
import { AnswersFile } from './answers-file.js'
import { enrichedResult, priceResult } from './results.js'

export interface EnrichOrder extends Pick<ListQuestion, 'dataset' | 'key' | 'match' | 'where'> {
  readonly list: ListOrder
  /** The column of the list with the keys. */
  readonly column: string
  /** Null = all. */
  readonly select: readonly string[] | null
  /** Null in a dry run. */
  readonly out: string | null
  readonly isDry: boolean
  readonly isExact: boolean
  readonly addZeros: boolean
  readonly replaces: boolean
}

/**
 * Reads a list, asks for its keys and writes it with what was found; or, in a dry run, says what
 * that can cost.
 * @throws TableError, bad_request; ServiceError of the server. Paid answers are kept for a next run
 */
export async function enrichList(
  parts: CliParts,
  order: EnrichOrder,
  ask: AskServer,
): Promise<Result> {
  requireTarget(order)
  const list = await openList(order.list, () => fileBytes(resolve(order.list.file)))
  const facts = await readFacts(ask, order.dataset, (ms) => parts.clock.sleep(ms))
  const column = keyColumn(facts, order.key)
  const judge = keyJudge(column, order.addZeros)
  const read = await readKeys(list, order.column, judge)
  const plan = planOf(order, facts)
  // Of `wide` they depend on what is found.
  const names = freeNames(list, read, [...plan.wanted, statusName], order.dataset)
  const keys = [...read.keys]
  if (order.isDry || order.out === null) {
    const price = await listPrice({ ...order, ...plan }, keys, facts, ask, order.isExact)
    return priceResult(parts, list, read, order.match === 'wide' ? [] : names, price)
  }
  const target = resolve(order.out)
  const orderKey = { ...orderKeyOf(order), keys: hash('sha256', JSON.stringify(keys)) }
  const keyOf = (json: string) => plainKey(column.type, textOfJson(json))
  const { plan: kept, answers } = AnswersFile.open(`${target}.part`, orderKey, plan, keyOf)
  try {
    await askAll(parts, { ...order, ...kept }, keys, facts, answers, ask, `${order.out}.part`)
    const file = openSync(`${target}.new`, 'w')
    const save = (bytes: Uint8Array) => {
      writeFileSync(file, bytes)
    }
    const found = { ...order, ...kept, facts, answers }
    const written = await finishList(list, read, judge, found, save)
      .finally(() => {
        fsyncSync(file)
        closeSync(file)
      })
      .catch(async (cause: unknown) => {
        await rm(`${target}.new`)
        throw withWay(cause, `${order.out}.part`, list.format === 'Excel' ? toCsv : '')
      })
    await rename(`${target}.new`, target)
    await rm(`${target}.part`)
    return enrichedResult(parts, order.out, read, written, answers)
  } finally {
    answers.close()
  }
}

/** @throws bad_request for a file that exists, or of another format than the list */
function requireTarget({ list, out, replaces, isDry }: EnrichOrder): void {
  if (out === null || isDry) return
  const formats = [list.file, out].map((file) => tableFileOf(resolve(file))?.format)
  if (formats[0] !== formats[1] || /\.gz$/i.test(out)) {
    throw badRequest(`The new list has the format of ${quoted(list.file)}: name it so.`)
  }
  if (replaces || !existsSync(out)) return
  throw badRequest(`${out} exists. Choose another name, or replace it with --replace.`)
}

/** What must be the same for paid answers to count. */
function orderKeyOf({ dataset, key, match, where, select }: EnrichOrder): object {
  return { dataset, key, match, where, select }
}

async function askAll(
  parts: CliParts,
  question: ListQuestion,
  keys: readonly string[],
  { limit }: DatasetFacts,
  answers: AnswersFile,
  ask: AskServer,
  part: string,
): Promise<void> {
  const progress = progressReport(parts, false)
  const report = (done: number) => {
    progress.report({ what: 'asking', rowsDone: done, rows: keys.length, unit: 'keys' })
  }
  try {
    await askKeys(question, keys, limit.max, answers, ask, report)
  } catch (cause) {
    const isOver = cause instanceof ServiceError && cause.code === 'row_quota_exceeded'
    throw withWay(cause, part, isOver ? ', when rows are left or with a larger plan' : '')
  } finally {
    progress.end()
  }
}

/** For what a sheet can't hold. */
const toCsv =
  ', or save the list as CSV, rename that file to NAME.csv.part, and run the command for the CSV ' +
  'with -o NAME.csv'

/** The error, with where the paid answers are and how to go on. */
function withWay(cause: unknown, part: string, end: string): Error {
  const { message } = cause as Error
  const way = `What was paid is in ${part}: run the same command again to go on from there`
  const text = `${message} ${way}${end}.`
  return cause instanceof ServiceError
    ? new ServiceError(cause.code, text)
    : new Error(text, { cause })
}
