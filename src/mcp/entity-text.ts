import { accessibleDatasets } from '../access/access.js'
import { callName } from '../columns/call-text.js'
import type { Column } from '../columns/column.js'
import { isOrdered } from '../columns/functions.js'
import { ServiceError } from '../errors.js'
import { rawFind } from '../query/parse-find.js'
import { rawQuestion } from '../query/parse-json.js'
import { rawTop } from '../query/parse-top.js'
import { cellsByName } from '../row-texts.js'
import type { Caller, Service } from '../service.js'
import { textOf } from '../service/entity-rows.js'
import type { Page, PageAnswer, Room } from '../service/page.js'
import { many } from '../text.js'
import type { Entity } from '../versions/version.js'
import { beginningOf, entityUrl, searchAnswer, shownQuota } from './query-answer.js'

/** Of the text as it is serialised; the rest of the answer is short. */
const lettersMax = 29_500
/** More are not read. */
const rowsMax = 100
/** For what is said of periods that are left out. */
const noteLetters = 300

/** The answer of `search`: what `find` finds in all datasets, without a reason for nothing. */
export async function searchEntities(
  service: Pick<Service, 'find'>,
  caller: Caller,
  query: string,
  site: string,
  checkOnly: boolean,
): Promise<object> {
  const request = { ...rawFind({ q: query }, 'query'), explain: false }
  return searchAnswer(await service.find(caller, null, request, checkOnly), site)
}

/**
 * The answer of `fetch`: the rows of one entity as text, newest period first, for the price of the
 * rows. The periods that do not fit are neither sent nor charged.
 * @throws not_found, with one text for whatever is not there or not to be seen
 */
export async function fetchEntity(
  service: Pick<Service, 'readPage' | 'top'>,
  caller: Caller,
  id: string,
  site: string,
  checkOnly: boolean,
): Promise<object> {
  const slash = id.indexOf('/')
  const [name, key] = [id.slice(0, Math.max(slash, 0)), id.slice(slash + 1)]
  const place = accessibleDatasets(caller.principal, caller.catalog).find(
    ({ dataset }) => dataset.name === name,
  )
  const entity = place?.version.entity
  if (!entity) throw unknown()
  const answer = await readRows(service, caller, name, entity, key, checkOnly)
  if (answer.kind !== 'page') return answer
  if (answer.rows.length === 0) throw unknown()
  return entityAnswer(answer, entity, id, site)
}

function unknown(): ServiceError {
  return new ServiceError('not_found', 'There is no such id. The tools search and find have ids.')
}

async function readRows(
  service: Pick<Service, 'readPage' | 'top'>,
  caller: Caller,
  dataset: string,
  { key: { name: column }, period }: Entity,
  key: string,
  checkOnly: boolean,
): Promise<PageAnswer> {
  const max = caller.catalog.datasets.get(dataset)?.limit.max ?? 1
  const common = { dataset, room, checkOnly, usualLimit: Math.min(max, rowsMax) }
  const filters = [{ column, op: 'eq', value: key }]
  try {
    if (!period || !isOrdered(period)) {
      return await service.readPage(caller, { ...common, question: () => rawQuestion({ filters }) })
    }
    const by = `-${callName(period.name)}`
    return await service.top(caller, { ...common, question: () => rawTop({ by, filters }) })
  } catch (cause) {
    // A key that the column can't hold is unknown.
    if (cause instanceof ServiceError && cause.code === 'bad_request') throw unknown()
    throw cause
  }
}

/** The first rows of which the text fits; one at least, whose text is cut. */
const room: Room = {
  rowsMax: () => Infinity,
  rowsThatFit: (rows, columns) => {
    // One at least, of those that there are: nothing found costs nothing.
    let [fitting, tooMany] = [Math.min(1, rows.length), rows.length + 1]
    while (tooMany - fitting > 1) {
      const middle = Math.floor((fitting + tooMany) / 2)
      const text = linesText(rows.slice(0, middle), columns)
      if (lettersOf(text) > lettersMax - noteLetters) tooMany = middle
      else fitting = middle
    }
    return fitting
  },
}

function lettersOf(text: string): number {
  return JSON.stringify(text).length
}

function entityAnswer(page: Page, entity: Entity, id: string, site: string): object {
  const { rows, columns, hasMore, version, quota } = page
  const [newest = new Map<string, string>(), ...others] = rows.map(cellsOf)
  const cell = (row: ReadonlyMap<string, string>, column: Column | null) =>
    textOf(row.get(column?.name ?? '') ?? 'null')
  const key = cell(newest, entity.key)
  const title = [cell(newest, entity.name), key].filter((each) => each !== '').join(', ')
  const periods = entity.period
    ? [newest, ...others].map((row) => cell(row, entity.period))
    : undefined
  const note = hasMore
    ? `\n\nOnly the newest ${many(rows.length, 'row')}: more do not fit or are not paid.`
    : ''
  return {
    id,
    title,
    text: cutText(linesText(rows, columns)) + note,
    url: entityUrl(site, id),
    metadata: {
      dataset: version.dataset,
      key,
      ...(periods && { periods }),
      truncated: hasMore,
      version: version.id,
      quota: shownQuota(quota),
    },
  }
}

function cutText(text: string): string {
  if (lettersOf(text) <= lettersMax - noteLetters) return text
  return `${beginningOf(text, lettersMax - noteLetters)} … [cut]`
}

const severalRows = 'Values of several rows are divided by " | "; one value is that of all.'

/** A line for each column that has a value, under its section, with a value for each row. */
function linesText(rows: readonly Buffer[], columns: readonly Column[]): string {
  const cells = rows.map(cellsOf)
  const shown = columns.flatMap((column) => {
    const values = cells.map((row) => valueText(column, row.get(column.name) ?? 'null'))
    return values.every((value) => value === '') ? [] : [{ column, values }]
  })
  const sections = [...Map.groupBy(shown, ({ column }) => column.section)].map(([name, lines]) => {
    const texts = lines.map(({ column, values }) => `${headText(column)}: ${joined(values)}`)
    return [...(name === null ? [] : [`## ${name}`]), ...texts].join('\n')
  })
  const empty = columns.length - shown.length
  const left = empty === 0 ? [] : [`${many(empty, 'column')} without a value not shown.`]
  const first = rows.length > 1 ? [severalRows] : []
  return [...first, ...sections, ...left].join('\n\n')
}

/** One value where all rows have the same. */
function joined(values: readonly string[]): string {
  const [first = ''] = values
  if (values.every((value) => value === first)) return first
  return values.map((value) => (value === '' ? '–' : value)).join(' | ')
}

/** `Revenue (2110), thousand RUB` */
function headText({ name, label, unit }: Column): string {
  return (label === null ? name : `${label} (${name})`) + (unit === null ? '' : `, ${unit}`)
}

/** The value, and what it means if it is a code. */
function valueText({ labels }: Column, json: string): string {
  const text = textOf(json)
  const meaning = labels?.plain.names.get(text)
  return meaning === undefined ? text : `${text} ${meaning}`
}

function cellsOf(row: Buffer): ReadonlyMap<string, string> {
  return cellsByName(String(row))
}
