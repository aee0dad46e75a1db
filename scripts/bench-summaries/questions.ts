import type { Facts } from '../bench/facts.js'

/** A question in the forms that the contestants take. */
export interface Asked {
  /** Our path and query, below the dataset: `/aggregate?…`. */
  readonly path: string
  /** For a table of `FROM`, with the columns of our answer in their order. */
  readonly sql: (table: string) => string
}

/** A kind of question, with other values in each round, so that no kept answer helps. */
export interface SummaryWorkload {
  readonly name: string
  readonly title: string
  readonly askedOf: (facts: Facts, round: number) => Asked
}

const yearsOfWindow = 4
const okvedPrefix = '46'
const topRows = 20
/** Another limit makes another question; there are fewer groups than this. */
const limitMin = 1000
/** Numbers at the end of generated names, far from each other. */
const firstNumber = 332_611
const numberStep = 977

/** S1 to S6. */
export const summaryWorkloads: readonly SummaryWorkload[] = [
  {
    name: 'S1',
    title: 'count and sum by year and class, four years',
    askedOf: ({ years }, round) => {
      const at = round % Math.max(1, years.length - yearsOfWindow + 1)
      const [first = 0, last = first] = [years[at], years[at + yearsOfWindow - 1]]
      return classes(round, `year=gte.${first}&year=lte.${last}`, 'year,', {
        where: `year BETWEEN ${first} AND ${last}`,
        measures: 'count,sum(2110)',
        columns: 'year, left(okved, 2), count(*), sum("2110")',
        groups: '1, 2',
      })
    },
  },
  {
    name: 'S2',
    title: 'count and sum by class, one year',
    askedOf: ({ years }, round) => {
      const year = yearOf(years, round)
      return classes(round, `year=eq.${year}`, '', {
        where: `year = ${year}`,
        measures: 'count,sum(2110)',
        columns: 'left(okved, 2), count(*), sum("2110")',
        groups: '1',
      })
    },
  },
  {
    name: 'S3',
    title: 'median of a quotient, one class and year',
    askedOf: ({ years }, round) => {
      const year = yearOf(years, round)
      const limit = limitMin + round
      return {
        path: `/aggregate?year=eq.${year}&okved=like.${okvedPrefix}*&measures=median(2400/2110)&limit=${limit}`,
        sql: (table) =>
          `SELECT median(CAST("2400" AS DOUBLE) / "2110") FROM ${table}
          WHERE year = ${year} AND okved LIKE '${okvedPrefix}%' AND "2110" <> 0`,
      }
    },
  },
  {
    name: 'S4',
    title: `top ${topRows} by profit, one year`,
    askedOf: ({ years }, round) => {
      const year = yearOf(years, round)
      // Another order of the columns makes another question.
      const columns = round % 2 === 0 ? ['inn', 'okved', '2400'] : ['okved', 'inn', '2400']
      const names = columns.map((name) => `"${name}"`).join(', ')
      return {
        path: `/top?by=-2400&year=eq.${year}&select=${columns.join()}&limit=${topRows + round}`,
        sql: (table) =>
          `SELECT ${names} FROM ${table} WHERE year = ${year} AND "2400" IS NOT NULL
          ORDER BY "2400" DESC LIMIT ${topRows + round}`,
      }
    },
  },
  {
    name: 'S5',
    title: 'different companies by class, all years',
    askedOf: (_facts, round) =>
      classes(round, '', '', {
        where: 'true',
        measures: 'distinct(inn)',
        columns: 'left(okved, 2), count(DISTINCT inn)',
        groups: '1',
      }),
  },
  {
    name: 'S6',
    title: 'the first 20 rows with a rare word in the name',
    askedOf: (_facts, round) => {
      const word = String(firstNumber + round * numberStep)
      return {
        path: `?name=contains.${word}&select=inn,year,name&limit=20`,
        sql: (table) =>
          `SELECT inn, year, name FROM ${table} WHERE strpos(lower(name), '${word}') > 0 LIMIT 20`,
      }
    },
  },
]

interface Classes {
  readonly where: string
  readonly measures: string
  readonly columns: string
  readonly groups: string
}

function classes(round: number, filters: string, group: string, { measures, ...sql }: Classes) {
  const limit = limitMin + round
  const filter = filters === '' ? '' : `${filters}&`
  return {
    path: `/aggregate?${filter}group=${group}prefix(okved,2)&measures=${measures}&limit=${limit}`,
    sql: (table: string) =>
      `SELECT ${sql.columns} FROM ${table} WHERE ${sql.where} GROUP BY ${sql.groups}`,
  }
}

function yearOf(years: readonly number[], round: number): number {
  return years[round % years.length] ?? 0
}
