import { callName } from '../columns/call-text.js'
import type { Column } from '../columns/column.js'
import type { Language } from '../config.js'
import { ServiceError } from '../errors.js'
import type { ErrorCode } from '../errors.js'
import { plainText } from '../plain-text.js'
import { rawQuestion } from '../query/parse-json.js'
import { rawTop } from '../query/parse-top.js'
import { cellsByName, textOfJson } from '../row-texts.js'
import type { Service } from '../service.js'
import type { Caller } from './caller.js'
import type { GroupsAnswer, Page } from './page.js'
import type { PaidAnswers } from './paid/paid-answers.js'
import type { ShownColumn, ShownDataset, ShownEntry } from './showcase.js'

/** What reads rows for a page: as the caller, who pays once a day for the same ones. */
export interface PageReader {
  readonly service: Pick<Service, 'readPage' | 'top' | 'summarize'>
  readonly caller: Caller
  readonly paidAnswers: PaidAnswers
  readonly language: Language
}

/** A row as people read it: the JSON text of each column by its name. */
export type ShownRow = ReadonlyMap<string, string>

export interface ShownRows {
  readonly rows: readonly ShownRow[]
  /** What a value means in a column of codes, from its JSON text; null if it is none. */
  readonly meaning: (column: string, json: string) => string | null
  /** There are more rows. */
  readonly isCut: boolean
  /** What they cost now. */
  readonly charged: number
}

/** The rows of another dataset that have the key of an entity: the newest, then the undated. */
export interface ShownLink extends ShownRows {
  readonly dataset: ShownDataset
  /** The column that has the key. */
  readonly column: ShownColumn
  readonly shown: readonly ShownColumn[]
  /** How many of them have no date. */
  readonly undated: number
  /** Why there are none to show, or not all; null if they could be read. */
  readonly refusal: ErrorCode | null
}

/** The rows of one entity, newest period first, and those that are linked to it. */
export interface ShownEntity extends ShownRows {
  readonly key: string
  readonly links: readonly ShownLink[]
}

/** How many linked rows a page shows of each column. */
export const linkedRowsMax = 20

/**
 * The rows of one entity; null if the caller sees none, or the dataset has no entity. Each dataset
 * is charged for its own rows. `shown` are the datasets that pages may show.
 */
export async function readEntity(
  reader: PageReader,
  dataset: ShownDataset,
  key: string,
  shown: readonly ShownDataset[],
): Promise<ShownEntity | null> {
  const { entity, name, limit } = dataset
  if (!entity) return null
  const found = await readRows(
    reader,
    name,
    [{ column: entity.key, op: 'eq', value: key }],
    limit.max,
  )
  if (!found || found.rows.length === 0) return null
  const place = (row: ShownRow) => row.get(entity.period ?? '') ?? ''
  const rows = found.rows.toSorted((a, b) =>
    place(b).localeCompare(place(a), 'en', { numeric: true }),
  )
  const links = await Promise.all(
    entity.links.map(async ({ dataset: linked, column }) => {
      const other = shown.find((each) => each.name === linked)
      return other ? await readLink(reader, other, column, key) : null
    }),
  )
  return { ...found, key, rows, links: links.filter((link) => link !== null) }
}

/** Null where the caller has no grant for the dataset. */
async function readLink(
  reader: PageReader,
  dataset: ShownDataset,
  name: string,
  key: string,
): Promise<ShownLink | null> {
  const column = dataset.columns.find((each) => each.name === name)
  if (!column) return null
  const shown = dataset.firstColumns.flatMap((first) =>
    first === name ? [] : (dataset.columns.find((each) => each.name === first) ?? []),
  )
  const about = { dataset, column, shown, undated: 0, refusal: null }
  const { history } = dataset
  const max = Math.min(linkedRowsMax, dataset.limit.max)
  const filters = [{ column: name, op: 'eq', value: key }]
  const found = await readRows(reader, dataset.name, filters, max, history).catch(refusalOf)
  if (found === null || found === 'not_found') return null
  if (typeof found === 'string') return { ...about, ...nothing, refusal: found }
  const rest = found.isCut ? 0 : max - found.rows.length
  if (history === null || rest === 0) return { ...about, ...found }
  const empty = { column: history, op: 'is_null' }
  const more = await readRows(reader, dataset.name, [...filters, empty], rest).catch(refusalOf)
  if (more === null || typeof more === 'string') return { ...about, ...found, refusal: more }
  const [rows, charged] = [[...found.rows, ...more.rows], found.charged + more.charged]
  return { ...about, ...more, rows, charged, undated: more.rows.length }
}

const nothing: ShownRows = { rows: [], meaning: () => null, isCut: false, charged: 0 }

/** Why a part of a page could not be read; throws what is no refusal. */
export function refusalOf(cause: unknown): ErrorCode {
  if (cause instanceof ServiceError && cause.code !== 'internal_error') return cause.code
  throw cause
}

/**
 * Rows that meet the filters, the largest in `by` first: those that have a value there. Null for a
 * value that the column can't hold: no row has it.
 */
async function readRows(
  { service, caller, paidAnswers, language }: PageReader,
  dataset: string,
  filters: NonNullable<Parameters<typeof rawTop>[0]['filters']>,
  limit: number,
  by: string | null = null,
): Promise<ShownRows | null> {
  const [request, asked] = [
    { dataset, paidAnswers },
    { filters, limit },
  ]
  const page = await (
    by === null
      ? service.readPage(caller, { ...request, question: () => rawQuestion(asked) })
      : service.top(caller, {
          ...request,
          question: () => rawTop({ ...asked, by: `-${callName(by)}` }),
        })
  ).catch((cause: unknown) => {
    if (cause instanceof ServiceError && cause.code === 'bad_request') return null
    throw cause
  })
  return page?.kind === 'page' ? shownRows(page, page.hasMore, language) : null
}

/** The rows of an answer in JSON. */
export function shownRows(
  { rows, columns, charged }: Pick<Page | GroupsAnswer, 'rows' | 'columns' | 'charged'>,
  isCut: boolean,
  language: Language,
): ShownRows {
  return {
    rows: rows.map((row) => cellsByName(String(row))),
    meaning: (column, json) => meaningOf(columns, column, json, language),
    isCut,
    charged,
  }
}

function meaningOf(
  columns: readonly Column[],
  name: string,
  json: string,
  language: Language,
): string | null {
  const { labels } = columns.find((column) => column.name === name) ?? {}
  const { names } = labels?.[language === 'ru' ? 'russian' : 'plain'] ?? {}
  return names?.get(textOf(json)) ?? null
}

/** A JSON value as people read it; empty for null. */
export function textOf(json: string): string {
  return json === 'null' ? '' : plainText(textOfJson(json))
}

/** Entities by key or name, for people. */
export async function findEntries(
  service: Pick<Service, 'find'>,
  caller: Caller,
  dataset: string,
  q: string,
): Promise<{ readonly entries: readonly ShownEntry[]; readonly charged: number }> {
  const request = { q, limit: shownMax, explain: false }
  const { entries, charged } = await service.find(caller, dataset, request)
  return {
    charged,
    entries: entries.map((entry) => {
      const cells = cellsByName(entry)
      const text = (name: string) => {
        const cell = cells.get(name) ?? 'null'
        return cell === 'null' ? null : textOfJson(cell)
      }
      const [key, matched] = [text('key') ?? '', text('matched') ?? '']
      const name = text('name')
      return { key, name: name && plainText(name), period: text('period'), matched }
    }),
  }
}

const shownMax = 20
