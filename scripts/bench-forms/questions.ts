import type { Random } from '../harness/random.js'

/** Rows that are asked for. */
export interface RowsQuestion {
  readonly kind: 'rows'
  /** Null = all columns. */
  readonly select: readonly string[] | null
  /** One of these companies; empty = any. */
  readonly inns: readonly string[]
  readonly years: Years | null
  /** What `okved` begins with. */
  readonly okved: string | null
  /** Where a page begins, as a share of the rows that the bounds leave; null = all rows at once. */
  readonly from: number | null
  readonly limit: number
  /** So many files are given to DuckDB on either side of those that can hold the rows. */
  readonly extraFiles: number
}

/** One answer about many rows. */
interface SummaryQuestion {
  readonly kind: 'summary'
  readonly select: string
  readonly where: string | null
  /** What follows the conditions: GROUP BY, ORDER BY, LIMIT. */
  readonly tail: string
  readonly years: Years | null
}

export type Question = RowsQuestion | SummaryQuestion

/** The first and the last. */
export type Years = readonly [from: number, to: number]

/** What the questions need to know about the rows. */
export interface Facts {
  readonly columns: readonly string[]
  readonly years: Years
  /** Some companies from all over the data, in no order. */
  readonly companies: readonly string[]
}

/** A kind of question, with other values in each round. */
export interface Case {
  readonly name: string
  readonly title: string
  readonly questionOf: (facts: Facts, round: number, random: Random) => Question
  /** The answer is the same in every form; else it is a page, which may hold other rows. */
  readonly isWhole: boolean
  readonly kind: 'rows' | 'summary'
}

const pageRows = 1000
const listCompanies = 100
const hotCompanies = 10
/** Wholesale: a ninth of all companies. */
const okved = '46'
const five = ['inn', 'year', 'okved', '2110', '2400'] as const
const fourYears = 4
const shareSteps = 1_000_000

const anything = {
  kind: 'rows',
  inns: [],
  years: null,
  okved: null,
  from: null,
  extraFiles: 0,
} as const
const all = { kind: 'summary', where: null, tail: '', years: null } as const

/** Look-ups, lists, pages and a walk, as in docs/performance.md. */
export const rowCases: readonly Case[] = [
  lookUp('W1', 'a company, 5 columns, each asked once', { select: five }),
  lookUp('W1 hot', 'the same ten again and again', { select: five, isHot: true }),
  lookUp('W2', 'a company, all columns, each asked once', { select: null }),
  lookUp('W2 hot', 'the same ten again and again', { select: null, isHot: true }),
  page(
    'W3',
    `${pageRows} × 5 of a year and okved prefix, from a random place`,
    (facts, random) => ({
      select: five,
      years: oneYear(facts, random),
      okved,
    }),
  ),
  page('W4', `${pageRows} × all columns of a year, from a random place`, (facts, random) => ({
    select: null,
    years: oneYear(facts, random),
  })),
  {
    name: 'W5',
    title: `${listCompanies} companies in a list, 5 columns`,
    questionOf: ({ companies }, round) => ({
      ...anything,
      select: five,
      inns: Array.from({ length: listCompanies }, (_, at) =>
        nth(companies, round * listCompanies + at),
      ),
      limit: pageRows * 10,
    }),
    isWhole: true,
    kind: 'rows',
  },
  page('W6', `${pageRows} × 5 of a walk, from a random place`, () => ({ select: five })),
]

/** More look-ups and pages: what costs grow with. */
export const costCases: readonly Case[] = [
  lookUp('C1', 'as W1, 10 more files on either side', { select: five, extraFiles: 10 }),
  lookUp('C2', 'as W1, 40 more files on either side', { select: five, extraFiles: 40 }),
  lookUp('C3', 'as W2, 10 more files on either side', { select: null, extraFiles: 10 }),
  page('C4', `${pageRows} × 5 of a year, from a random place`, (facts, random) => ({
    select: five,
    years: oneYear(facts, random),
  })),
  page('C5', `${pageRows} × all columns of a walk, from a random place`, () => ({ select: null })),
  page('C6', `${pageRows / 10} × 5 of a walk, from a random place`, () => ({
    select: five,
    limit: pageRows / 10,
  })),
]

/** Summaries of many rows, and names that contain a word. */
export const summaryCases: readonly Case[] = [
  summary('S1', 'sum and count by year and class, four years', ({ years: [, last] }) => ({
    select: 'year, left(okved, 2) AS class, sum("2110"), count(*)',
    tail: 'GROUP BY ALL',
    years: [last - fourYears, last - 1],
  })),
  summary('S2', 'the same, one year', (facts, random) => ({
    select: 'year, left(okved, 2) AS class, sum("2110"), count(*)',
    tail: 'GROUP BY ALL',
    years: oneYear(facts, random),
  })),
  summary('S3', 'median of a quotient, one class and year', (facts, random) => ({
    select: 'median(CAST("2400" AS DOUBLE) / nullif("2110", 0))',
    where: `starts_with(okved, '${okved}')`,
    years: oneYear(facts, random),
  })),
  summary('S4', 'top 20 by profit, one year', (facts, random) => ({
    select: 'inn, "2400"',
    tail: 'ORDER BY "2400" DESC NULLS LAST, inn LIMIT 20',
    years: oneYear(facts, random),
  })),
  summary('S5', 'distinct inn by class', () => ({
    select: 'left(okved, 2) AS class, count(DISTINCT inn)',
    tail: 'GROUP BY ALL',
  })),
  summary('S6', 'names that contain a rare text', (_, random) => ({
    select: 'count(*)',
    where: containing(`север ${random.whole(1000, 9999)}`),
  })),
  {
    ...summary('S7', 'the first 20 names that contain a frequent word', () => ({
      select: 'inn, name',
      where: containing('север'),
      tail: 'LIMIT 20',
    })),
    isWhole: false,
  },
]

interface LookUp {
  readonly select: RowsQuestion['select']
  readonly isHot?: true
  readonly extraFiles?: number
}

function lookUp(name: string, title: string, { select, isHot, extraFiles = 0 }: LookUp): Case {
  const companyOf = ({ companies }: Facts, round: number) =>
    isHot ? nth(companies, round % hotCompanies) : nth(companies, hotCompanies + round)
  const questionOf = (facts: Facts, round: number) => {
    const inns = [companyOf(facts, round)]
    return { ...anything, select, inns, limit: pageRows, extraFiles }
  }
  return { name, title, questionOf, isWhole: true, kind: 'rows' }
}

function page(
  name: string,
  title: string,
  partOf: (facts: Facts, random: Random) => Pick<RowsQuestion, 'select'> & Partial<RowsQuestion>,
): Case {
  const questionOf = (facts: Facts, _: number, random: Random) => ({
    ...anything,
    limit: pageRows,
    ...partOf(facts, random),
    from: random.whole(0, shareSteps - 1) / shareSteps,
  })
  return { name, title, questionOf, isWhole: false, kind: 'rows' }
}

function summary(
  name: string,
  title: string,
  partOf: (
    facts: Facts,
    random: Random,
  ) => Pick<SummaryQuestion, 'select'> & Partial<SummaryQuestion>,
): Case {
  const questionOf = (facts: Facts, _: number, random: Random) => ({
    ...all,
    ...partOf(facts, random),
  })
  return { name, title, questionOf, isWhole: true, kind: 'summary' }
}

/** As people write a name: in small letters, with е for ё. */
function containing(word: string): string {
  return `contains(replace(lower(name), 'ё', 'е'), '${word}')`
}

function oneYear({ years: [first, last] }: Facts, random: Random): Years {
  const year = random.whole(first, last)
  return [year, year]
}

function nth<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length]
  if (found === undefined) throw new RangeError('the list is empty')
  return found
}
