import { encodeList } from '../query/write-url.js'
import { parseSummaryUrl } from '../query/summary/parse-summary.js'
import type { GroupsAnswer } from './page.js'
import { shownRows, textOf } from './entity-rows.js'
import type { PageReader, ShownRow, ShownRows } from './entity-rows.js'
import type { ShownColumn, ShownDataset } from './showcase.js'

/** A figure by which entities are compared: a column, or a measure of the registry. */
export interface ComparedLine {
  readonly name: string
  readonly label: string
  readonly unit: string | null
  readonly section: string | null
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
}

export interface Comparison {
  readonly entities: readonly Compared[]
  /** Of all entities together, the newest first. */
  readonly periods: readonly string[]
  readonly period: string
  readonly medians: readonly LevelMedian[]
  readonly charged: number
}

export const comparedKeys = { min: 2, max: 10 } as const
/** The most lines of a comparison: with the number of rows, as many as a summary has measures. */
export const comparedLinesMax = 12
/** Rows of an entity, where its periods are not years. */
const periodsMax = 100

/** The columns and measures by which entities of a dataset can be compared. */
export function comparedLines({ columns, aggregates }: ShownDataset): readonly ComparedLine[] {
  const measures = (aggregates?.measures ?? []).map(({ name, description, unit, formula }, at) => ({
    ...{ name, unit, key: `m${at}`, own: `m${at}:${name}` },
    label: description?.split('. ', 1)[0] ?? name,
    section: null,
    isMeasure: true,
    middle: middleOf(formula, `m${at}`),
  }))
  const own = columns.flatMap(({ name, label, unit, section, isQuantity }, at) => {
    if (!isQuantity) return []
    const column = quotedName(name)
    return [
      {
        ...{ name, unit, section, key: `c${at}`, own: `c${at}:sum(${column})` },
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

function quotedName(name: string): string {
  return `"${name.replace(/[\\"]/g, '\\$&')}"`
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
  const names = [entity.key, entity.period, entity.name, coded?.name].flatMap((name) => name ?? [])
  const query = [
    `${encodeURIComponent(entity.key)}=in.${encodeList(keys)}`,
    `group=${encodeURIComponent([...new Set(names)].map(quotedName).join())}`,
    `measures=${encodeURIComponent(lines.map(({ own }) => own).join())}`,
    `limit=${keys.length * periodsOf(dataset)}&format=json`,
  ].join('&')
  const found = await summaryOf(reader, dataset.name, query)
  if (!found || found.rows.length === 0) return null
  const place = (row: ShownRow) => textOf(row.get(entity.period ?? '') ?? 'null')
  const newestFirst = found.rows.toSorted((a, b) =>
    place(b).localeCompare(place(a), 'en', { numeric: true }),
  )
  const periods = [...new Set(newestFirst.map(place))]
  const level = coded && levelOf(coded)
  const entities = keys.flatMap((key): readonly Compared[] => {
    const rows = newestFirst.filter((row) => textOf(row.get(entity.key) ?? 'null') === key)
    const [newest] = rows
    if (!newest) return []
    const code = textOf(newest.get(coded?.name ?? '') ?? 'null')
    const name = textOf(newest.get(entity.name ?? '') ?? 'null') || key
    const byPeriod = new Map(rows.toReversed().map((row) => [place(row), row]))
    return [{ key, name, rows: byPeriod, level: level && code !== '' ? level(code) : null }]
  })
  const period =
    wanted !== null && periods.includes(wanted) ? wanted : sharedPeriod(entities, periods)
  const medians = coded
    ? await mediansOf(reader, dataset, { coded, entities, lines, period, meaningOf: found.meaning })
    : []
  const charged = medians.reduce((sum, each) => sum + each.charged, found.charged)
  return { entities, periods, period, medians, charged }
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
  if (measures.length === 0) return []
  const medians = []
  for (const level of levels) {
    const time = entity?.period
      ? `&${encodeURIComponent(entity.period)}=eq.${encodeURIComponent(period)}`
      : ''
    const query =
      `${encodeURIComponent(coded.name)}=like.${encodeURIComponent(level)}*${time}` +
      `&measures=${encodeURIComponent(['rows:count', ...measures].join())}&format=json`
    const found = await summaryOf(reader, name, query)
    const [row] = found?.rows ?? []
    if (!found || !row) continue
    const meaning = meaningOf(coded.name, JSON.stringify(level))
    const rows = Number(row.get('rows') ?? 0)
    medians.push({ level, meaning, row, rows, charged: found.charged })
  }
  return medians
}

async function summaryOf(
  { service, caller, paidAnswers, language }: PageReader,
  dataset: string,
  query: string,
): Promise<ShownRows | null> {
  const answer = await service.summarize(caller, {
    dataset,
    paidAnswers,
    question: () => parseSummaryUrl(query),
  })
  const isWhole = (each: typeof answer): each is GroupsAnswer => each.kind === 'groups'
  return isWhole(answer) ? shownRows(answer, answer.truncated, language) : null
}
