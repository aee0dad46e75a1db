import type { Facts } from './data.js'

/** Rows that are asked for, in terms that every contestant's interface can express. */
export interface RowsQuestion {
  readonly kind: 'rows'
  /** Null = all columns. */
  readonly select: readonly string[] | null
  /** One of these values of a column; null = any row. */
  readonly by: { readonly column: string; readonly values: readonly string[] } | null
  readonly year: number | null
  /** What `okved` begins with. */
  readonly okved: string | null
  /** What `name` contains. */
  readonly word: string | null
  readonly limit: number
}

/** A question about many rows: how das is asked, and the same in SQL over a table. */
interface Summary {
  readonly kind: 'summary'
  readonly path: string
  readonly sql: (table: string) => string
}

export type Question = RowsQuestion | Summary

/** A kind of question, with other values in each round. */
export interface Workload {
  readonly name: string
  readonly title: string
  readonly questionOf: (facts: Facts, round: number) => Question
  /** The answer holds all matching rows; else it is a page: the first of them. */
  readonly isWhole: boolean
  /** Asked so many times less often than the others. */
  readonly rarer: number
}

const pageRows = 1000
/** Wholesale: a ninth of all companies. */
const okvedPrefix = '46'
const five = ['inn', 'year', 'okved', '2110', '2400'] as const
const anything: RowsQuestion = {
  kind: 'rows',
  select: five,
  by: null,
  year: null,
  okved: null,
  word: null,
  limit: pageRows,
}

/** W1's question about another company in each round. */
export function lookUpOf({ companies }: Facts, round: number): RowsQuestion {
  return { ...anything, by: { column: 'inn', values: some(companies, round, 1) } }
}

/** What W6 walks: everything, in five columns. */
export const walkQuestion: RowsQuestion = anything

/** A page that no filter makes short, as a client asks that reads everything. */
export function scanOf({ years }: Facts, round: number): RowsQuestion {
  return { ...anything, select: null, year: some(years, round, 1)[0] ?? 0 }
}

/** The path of a summary that is another one in each round: small answers are kept. */
export function busySummaryOf({ years }: Facts, round: number): string {
  const year = some(years, round, 1)[0] ?? 0
  return `/aggregate?year=eq.${year}&2110=gte.${round}&group=okved&measures=count,p90(1600)&limit=1000`
}

/** All but the walk (W6), the load (W7) and the cold look-ups. */
export const workloads: readonly Workload[] = [
  whole('W1', 'one company, 5 columns', lookUpOf),
  whole('W2', 'one company, all columns', (facts, round) => {
    return { ...lookUpOf(facts, round), select: null }
  }),
  page('W3', `${pageRows} × 5, one year and okved prefix`, (facts, round) => {
    return { ...scanOf(facts, round), select: five, okved: okvedPrefix }
  }),
  page('W4', `${pageRows} × all columns, one year`, scanOf),
  whole('W5', '100 companies in a list, 5 columns', (facts, round) => listOf(facts, round, 100)),
  whole('L1000', '1,000 companies in a list, 5 columns', listOf, 3),
  whole('second', 'look-up by a second column', ({ codes }, round) => {
    return { ...anything, by: { column: 'okpo', values: some(codes, round, 1) } }
  }),
  whole('contains', 'names that contain a rare text', ({ words }, round) => {
    return { ...anything, word: some(words, round, 1)[0] ?? '' }
  }),
  summaryByYear(
    ['year', 'count and sum by class, one year'],
    (round) => `/aggregate?2400=gte.${round}&group=okved&measures=count,sum:sum(2110)&limit=10000`,
    (round, where) => `SELECT okved, count(*) AS count, sum("2110") AS sum ${where}
      AND "2400" >= ${round} GROUP BY okved`,
  ),
  summaryByYear(
    ['top', 'top 20 by profit, one year'],
    (round) => `/top?2110=gte.${round}&by=-2400&select=inn,2400&limit=20`,
    (round, where) => `SELECT inn, "2400" ${where} AND "2110" >= ${round} AND "2400" IS NOT NULL
      ORDER BY "2400" DESC LIMIT 20`,
  ),
  whole(
    'all-years',
    'sum by company, all years, the largest 100',
    (_facts, round) => ({
      kind: 'summary',
      path: `/aggregate?2400=gte.${round}&group=inn&measures=sum:sum(2110)&having=sum.gte.0&order=-sum&limit=100`,
      sql: (table) => `SELECT inn, sum("2110") AS sum FROM ${table} WHERE "2400" >= ${round}
        GROUP BY inn HAVING sum("2110") >= 0 ORDER BY sum DESC LIMIT 100`,
    }),
    10,
  ),
]

/** W1 of companies that no other workload has asked for. */
export const cold = whole('cold', 'W1 with an empty page cache', (facts, round) =>
  lookUpOf(facts, -1 - round),
)

function whole(
  name: string,
  title: string,
  questionOf: Workload['questionOf'],
  rarer = 1,
): Workload {
  return { name, title, questionOf, isWhole: true, rarer }
}

function page(name: string, title: string, questionOf: Workload['questionOf']): Workload {
  return { ...whole(name, title, questionOf), isWhole: false }
}

/** Its numbers differ from round to round, because small answers are kept. */
function summaryByYear(
  [name, title]: readonly [string, string],
  pathOf: (round: number) => string,
  sqlOf: (round: number, where: string) => string,
): Workload {
  const questionOf = ({ years }: Facts, round: number): Summary => {
    // The sample has none of these amounts in its first year.
    const [year] = some(years.slice(1), round, 1)
    return {
      kind: 'summary',
      path: `${pathOf(round)}&year=eq.${year}`,
      sql: (table) => sqlOf(round, `FROM ${table} WHERE year = ${year}`),
    }
  }
  return whole(name, title, questionOf, 3)
}

function listOf({ companies }: Facts, round: number, count = 1000): RowsQuestion {
  const values = some(companies, round * count, count)
  return { ...anything, by: { column: 'inn', values }, limit: 10 * count }
}

/** So many of a list from a place on; it starts again at its end. */
function some<T>(list: readonly T[], from: number, count: number): readonly T[] {
  const start = ((from % list.length) + list.length) % list.length
  return [...list.slice(start), ...list].slice(0, Math.min(count, list.length))
}
