import { quotedName } from '../columns/call-text.js'
import type { ErrorCode } from '../errors.js'
import { rawSummary } from '../query/summary/parse-summary.js'
import { textOfJson } from '../row-texts.js'
import type { GroupsAnswer } from './page.js'
import { refusalOf, shownRows, textOf } from './entity-rows.js'
import type { PageReader, ShownRow, ShownRows } from './entity-rows.js'
import type { ShownColumn, ShownDataset } from './showcase.js'

/** A figure by which entities are compared: a column, or a measure of the registry. */
export interface ComparedLine {
  readonly name: string
  readonly label: string
  readonly unit: string | null
  readonly section: string | null
  /** As those of a column. */
  readonly decimals: number | null
  /** It is computed, or a column. */
  readonly isMeasure: boolean
  /** The name in a row. */
  readonly key: string
  /** As a measure of one entity in one period, and of the middle of many. */
  readonly own: string
  readonly middle: string | null
}

interface Compared {
  readonly key: string
  readonly name: string
  /** By period, the newest first. */
  readonly rows: ReadonlyMap<string, ShownRow>
  /** The code that its median is of, and what it means; null without levels. */
  readonly level: string | null
}

/** The middle of all entities of one level that the reader sees, in one period. */
export interface LevelMedian {
  readonly level: string
  readonly meaning: string | null
  readonly row: ShownRow
  /** How many rows it is of. */
  readonly rows: number
  /** Why it could not be read; null if it was. */
  readonly refusal: ErrorCode | null
}

export interface Comparison {
  readonly entities: readonly Compared[]
  /** Of all entities together, the newest first. */
  readonly periods: readonly string[]
  readonly period: string
  readonly medians: readonly LevelMedian[]
  /** The keys that were not found, as they are written. */
  readonly missing: readonly string[]
  /** There are more groups than were read. */
  readonly isCut: boolean
  readonly charged: number
}

export const comparedKeys = { min: 2, max: 10 } as const
/** The most lines of a comparison: with name and code, a summary has room for them. */
export const comparedLinesMax = 12
/** Of the name and the code of an entity in a row. */
const [nameName, codeName] = ['entity_name', 'entity_code']
/** Rows of an entity, where its periods are not years. */
const periodsMax = 100

/** The columns and measures by which entities of a dataset can be compared. */
export function comparedLines({ columns, aggregates }: ShownDataset): readonly ComparedLine[] {
  const measures = (aggregates?.measures ?? []).map(
    ({ name, label, description, unit, formula }, at) => ({
      ...{ name, unit, key: `m${at}`, own: `m${at}:${name}` },
      label: label ?? description?.split('. ', 1)[0] ?? name,
      ...{ section: null, decimals: null },
      isMeasure: true,
      middle: middleOf(formula, `m${at}`),
    }),
  )
  const own = columns.flatMap(({ name, label, unit, section, isQuantity, decimals }, at) => {
    if (!isQuantity) return []
    const column = quotedName(name)
    return [
      {
        ...{ name, unit, section, decimals, key: `c${at}`, own: `c${at}:sum(${column})` },
        isMeasure: false,
        label: label ?? name,
        middle: `c${at}:median(${column})`,
      },
    ]
  })
  return [...measures, ...own]
}

/** A quotient of sums has a middle over its quotients; what is one already has none. */
function middleOf(formula: string, key: string): string | null {
  const [, name, operands] = /^(ratio|sum|avg|median)\((.*)\)$/.exec(formula) ?? []
  return name === undefined ? null : `${key}:median(${operands})`
}

/**
 * The same lines of several entities, with the medians of their levels; null if the reader sees
 * none of them. Groups and medians are charged as such; `period` null = the newest.
 */
export async function compareEntities(
  reader: PageReader,
  dataset: ShownDataset,
  keys: readonly string[],
  {
    lines,
    period: wanted,
  }: { readonly lines: readonly ComparedLine[]; readonly period: string | null },
): Promise<Comparison | null> {
  const { entity } = dataset
  if (!entity) return null
  const coded = dataset.columns.find(({ levels }) => levels && Object.keys(levels).length > 0)
  // A column of numbers has 009 and 9 as one key.
  const asked = [...Map.groupBy(keys, entity.keyValue)].flatMap(([value, [first = '']]) =>
    value === null ? [] : { key: first, value },
  )
  if (asked.length === 0) return null
  const groups = [entity.key, entity.period].flatMap((name) => name ?? [])
  const measures = [
    ...lines.map(({ own }) => own),
    ...(entity.name === null ? [] : [`${nameName}:max(${quotedName(entity.name)})`]),
    ...(coded ? [`${codeName}:max(${quotedName(coded.name)})`] : []),
  ]
  const found = await summaryOf(reader, dataset.name, {
    filters: [{ column: entity.key, op: 'in', value: asked.map(({ key }) => key) }],
    group: [...new Set(groups)].map(quotedName),
    measures,
    limit: asked.length * periodsOf(dataset),
  })
  if (!found || found.rows.length === 0) return null
  const place = (row: ShownRow) => textOf(row.get(entity.period ?? '') ?? 'null')
  const newestFirst = found.rows.toSorted((a, b) =>
    place(b).localeCompare(place(a), 'en', { numeric: true }),
  )
  const periods = [...new Set(newestFirst.map(place))]
  const level = coded && levelOf(coded)
  const rowsOf = Map.groupBy(newestFirst, (row) => {
    return entity.keyValue(textOfJson(row.get(entity.key) ?? 'null'))
  })
  const entities = asked.flatMap(({ key, value }): readonly Compared[] => {
    const rows = rowsOf.get(value) ?? []
    const [newest] = rows
    if (!newest) return []
    const code = textOf(newest.get(codeName) ?? 'null')
    const name = textOf(newest.get(nameName) ?? 'null') || key
    const byPeriod = new Map(rows.map((row) => [place(row), row]))
    return [{ key, name, rows: byPeriod, level: level && code !== '' ? level(code) : null }]
  })
  const missing = keys.filter((key) => !rowsOf.has(entity.keyValue(key)))
  const period =
    wanted !== null && periods.includes(wanted) ? wanted : sharedPeriod(entities, periods)
  const medians = coded
    ? await mediansOf(reader, dataset, { coded, entities, lines, period, meaningOf: found.meaning })
    : []
  const charged = medians.reduce((sum, each) => sum + each.charged, found.charged)
  return { entities, periods, period, medians, missing, isCut: found.isCut, charged }
}

/** The most rows of an entity that are read: one a year of the dataset. */
function periodsOf({ entity, history, period }: ShownDataset): number {
  if (!period || entity?.period !== history) return periodsMax
  const years = Number(period.last.slice(0, 4)) - Number(period.first.slice(0, 4)) + 1
  return period.last.length > 4 || !(years > 0) ? periodsMax : years
}

/** The newest period that most of the entities have. */
function sharedPeriod(entities: readonly Compared[], periods: readonly string[]): string {
  const count = (period: string) => entities.filter(({ rows }) => rows.has(period)).length
  return periods.toSorted((a, b) => count(b) - count(a))[0] ?? ''
}

/** The level of a code by its first characters, the shortest one; the code itself without one. */
function levelOf({ levels = {} }: ShownColumn): (code: string) => string {
  const lengths = Object.values(levels).flatMap((text) => /,(\d+)\)$/.exec(text)?.[1] ?? [])
  const [length] = lengths.map(Number).toSorted((a, b) => a - b)
  return (code) => code.slice(0, length)
}

interface Middle {
  readonly coded: ShownColumn
  readonly entities: readonly Compared[]
  readonly lines: readonly ComparedLine[]
  readonly period: string
  readonly meaningOf: ShownRows['meaning']
}

async function mediansOf(
  reader: PageReader,
  { name, entity }: ShownDataset,
  { coded, entities, lines, period, meaningOf }: Middle,
): Promise<readonly (LevelMedian & { readonly charged: number })[]> {
  const measures = lines.flatMap(({ middle }) => middle ?? [])
  const levels = new Set(entities.flatMap(({ level }) => level ?? []))
  if (measures.length === 0 || (entity?.period && period === '')) return []
  const read = async (level: string) => {
    const found = await summaryOf(reader, name, {
      filters: [
        { column: coded.name, op: 'like', value: `${level}*` },
        ...(entity?.period ? [{ column: entity.period, op: 'eq', value: period }] : []),
      ],
      measures: ['rows:count', ...measures],
    }).catch(refusalOf)
    const about = { level, meaning: meaningOf(codeName, JSON.stringify(level)) }
    if (typeof found === 'string') {
      return [{ ...about, row: new Map<string, string>(), rows: 0, refusal: found, charged: 0 }]
    }
    const [row] = found?.rows ?? []
    if (!found || !row) return []
    const rows = Number(row.get('rows') ?? 0)
    return [{ ...about, row, rows, refusal: null, charged: found.charged }]
  }
  return (await Promise.all([...levels].map(read))).flat()
}

async function summaryOf(
  { service, caller, paidAnswers, language }: PageReader,
  dataset: string,
  summary: Parameters<typeof rawSummary>[0],
): Promise<ShownRows | null> {
  const answer = await service.summarize(caller, {
    dataset,
    paidAnswers,
    question: () => rawSummary(summary),
  })
  const isWhole = (each: typeof answer): each is GroupsAnswer => each.kind === 'groups'
  return isWhole(answer) ? shownRows(answer, answer.truncated, language) : null
}
