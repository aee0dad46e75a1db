import type { Facts } from './facts.js'

/** The rows that are asked for, in terms that every contestant's interface can express. */
export interface Question {
  /** Null = all columns. */
  readonly select: readonly string[] | null
  /** One of these companies; empty = any. */
  readonly inns: readonly string[]
  readonly year: number | null
  /** What `okved` begins with. */
  readonly okved: string | null
  readonly limit: number
}

/** A kind of question, with other values in each round. */
export interface Workload {
  readonly name: string
  readonly title: string
  readonly questionOf: (facts: Facts, round: number) => Question
  /** The answer holds all matching rows; else it is a page, which may hold any of them. */
  readonly isWhole: boolean
}

const pageRows = 1000
const listCompanies = 100
/** Wholesale: a ninth of all companies. */
const okvedPrefix = '46'

const fiveColumns = ['inn', 'year', 'okved', '2110', '2400'] as const
const anything = { inns: [], year: null, okved: null, limit: pageRows } as const

/** W1 to W5; no company is asked for twice within a workload while there are others. */
export const workloads: readonly Workload[] = [
  {
    name: 'W1',
    title: 'one company, 5 columns, all years',
    questionOf: (facts, round) => lookUpOf(facts, round),
    isWhole: true,
  },
  {
    name: 'W2',
    title: 'one company, all columns',
    questionOf: (facts, round) => ({
      ...anything,
      select: null,
      inns: [companyOf(facts, round)],
    }),
    isWhole: true,
  },
  {
    name: 'W3',
    title: `page of ${pageRows} × 5, year and okved prefix`,
    questionOf: (facts, round) => ({
      ...anything,
      select: fiveColumns,
      year: yearOf(facts, round),
      okved: okvedPrefix,
    }),
    isWhole: false,
  },
  {
    name: 'W4',
    title: `page of ${pageRows} × all columns, one year`,
    questionOf: (facts, round) => ({ ...anything, select: null, year: yearOf(facts, round) }),
    isWhole: false,
  },
  {
    name: 'W5',
    title: `${listCompanies} companies in a list, 5 columns`,
    questionOf: (facts, round) => ({
      ...anything,
      select: fiveColumns,
      inns: Array.from({ length: listCompanies }, (_, at) =>
        companyOf(facts, round * listCompanies + at),
      ),
    }),
    isWhole: true,
  },
]

/** W1's question about another company in each round. */
export function lookUpOf(facts: Facts, round: number): Question {
  return { ...anything, select: fiveColumns, inns: [companyOf(facts, round)] }
}

/** What W6 walks: everything, in five columns. */
export const walkQuestion: Question = { ...anything, select: fiveColumns }

function companyOf({ companies }: Facts, at: number): string {
  return companies[at % companies.length] ?? ''
}

function yearOf({ years }: Facts, round: number): number {
  return years[round % years.length] ?? 0
}
