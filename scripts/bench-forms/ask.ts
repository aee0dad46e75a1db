import { bindBigint, bindText } from '../../src/engine/duckdb/bind.js'
import type { BoundValue } from '../../src/engine/duckdb/bind.js'
import { bindPaths, boundFilesSql } from '../../src/engine/duckdb/paths.js'
import type { Statements } from '../harness/duckdb.js'
import type { Form, FormFile, NativeForm, ParquetForm } from './form.js'
import type { Question, RowsQuestion, Years } from './questions.js'
import { noWork, totalWork, workOf } from './work.js'
import type { Piece, Work } from './work.js'

export interface Answer {
  /** Texts, one for each row. */
  readonly rows: readonly string[]
  readonly work: Work
}

/** The rows that the server reads in the first statement of a page, and what a file costs it. */
const firstRows = 122_880
const fileRowsMin = firstRows / 16
const growth = 8

/** Asks one form, with the files chosen before DuckDB gets them. */
export function ask(
  statements: Statements,
  form: Form,
  question: Question,
  columns: readonly string[],
): Promise<Answer> {
  if (form.kind === 'native') return askNative(statements, form, question, columns)
  const files = chooseFiles(form, question)
  const isPage = question.kind === 'rows' && question.from !== null
  if (isPage) return askPage(statements, files, question, columns)
  return askPieces(statements, [{ files, range: null }], question, columns)
}

/** The files that can hold what is asked for. */
function chooseFiles({ files }: ParquetForm, question: Question): readonly FormFile[] {
  const { years } = question
  const extra = question.kind === 'rows' ? question.extraFiles : 0
  const canHold = ({ year, inn }: FormFile) => {
    const isYear = years === null || (year.min <= years[1] && years[0] <= year.max)
    if (question.kind === 'summary' || question.inns.length === 0) return isYear
    return isYear && question.inns.some((each) => inn.min <= each && each <= inn.max)
  }
  const chosen = files.map(canHold)
  return files.filter((_, at) =>
    chosen.slice(Math.max(at - extra, 0), at + extra + 1).some(Boolean),
  )
}

/** A page in pieces that grow, like the server's. */
async function askPage(
  statements: Statements,
  files: readonly FormFile[],
  question: RowsQuestion,
  columns: readonly string[],
): Promise<Answer> {
  const total = files.reduce((rows, file) => rows + file.rows, 0)
  let skipped = Math.floor((question.from ?? 0) * total)
  let first = 0
  for (let file = files[first]; file && file.rows <= skipped; file = files[first]) {
    skipped -= file.rows
    first += 1
  }
  return askPieces(statements, piecesOf(files.slice(first), skipped), question, columns)
}

function* piecesOf(files: readonly FormFile[], skipped: number): Generator<Piece> {
  let [size, from, at] = [firstRows, skipped, 0]
  for (let file = files[at]; file; file = files[at]) {
    const batch: FormFile[] = []
    let cost = 0
    for (const each of from > 0 ? [] : files.slice(at)) {
      cost += Math.max(each.rows, fileRowsMin)
      if (cost > size) break
      batch.push(each)
    }
    if (batch.length > 0) {
      yield { files: batch, range: null }
      at += batch.length
    } else {
      const to = Math.min(from + size, file.rows)
      cost = to - from
      yield { files: [file], range: [from, to] }
      from = to < file.rows ? to : 0
      if (from === 0) at += 1
    }
    size = Math.max(size, cost * growth)
  }
}

async function askPieces(
  statements: Statements,
  pieces: Iterable<Piece>,
  question: Question,
  columns: readonly string[],
): Promise<Answer> {
  const rows: string[] = []
  const works: Work[] = []
  for (const { files, range } of pieces) {
    if (files.length === 0) continue
    const sql = new Sql()
    const from = boundFilesSql(sql.add(bindPaths(files.map(({ path }) => path))))
    const conditions = range
      ? [
          `file_row_number >= ${sql.add(bindBigint(range[0]))}`,
          `file_row_number < ${sql.add(bindBigint(range[1]))}`,
        ]
      : []
    const missing = question.kind === 'rows' ? question.limit - rows.length : Infinity
    const text = textOf(sql, question, columns, from, conditions, missing)
    const [found = []] = await statements.run(text, sql.values)
    rows.push(...found.map(String))
    if (question.kind === 'rows') {
      works.push(workOf({ files, range }, question, columns, missing, found.length))
    }
    if (found.length >= missing) break
  }
  return { rows, work: totalWork(works) }
}

async function askNative(
  statements: Statements,
  form: NativeForm,
  question: Question,
  columns: readonly string[],
): Promise<Answer> {
  const sql = new Sql()
  const isPage = question.kind === 'rows' && question.from !== null
  const start = isPage ? Math.floor((question.from ?? 0) * form.rows) : 0
  const conditions = isPage ? [`position >= ${sql.add(bindBigint(start))}`] : []
  const limit = question.kind === 'rows' ? question.limit : Infinity
  const text = textOf(sql, question, columns, form.table, conditions, limit)
  const [found = []] = await statements.run(text, sql.values)
  return { rows: found.map(String), work: noWork }
}

/** The text of a statement, and its values. */
class Sql {
  readonly values: BoundValue[] = []

  add(value: BoundValue): `$${number}` {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Rows as JSON text, which is how the server reads them. */
function textOf(
  sql: Sql,
  question: Question,
  columns: readonly string[],
  from: string,
  conditions: readonly string[],
  limit: number,
): string {
  const years = yearConditions(sql, question.years)
  if (question.kind === 'summary') {
    const all = [...conditions, ...years, ...(question.where === null ? [] : [question.where])]
    const rows = `SELECT ${question.select} FROM ${from} ${whereOf(all)} ${question.tail}`
    return `SELECT CAST(to_json(answer) AS VARCHAR) FROM (${rows}) answer`
  }
  const { inns, okved } = question
  const list = inns.map((inn) => sql.add(bindText(inn)))
  const all = [
    ...(list.length === 0 ? [] : [list[1] ? `inn IN (${list.join(', ')})` : `inn = ${list[0]}`]),
    ...conditions,
    ...years,
    ...(okved === null ? [] : [`starts_with(okved, ${sql.add(bindText(okved))})`]),
  ]
  const fields = (question.select ?? columns).map((name) => `'${name}': "${name}"`)
  const row = `CAST(to_json({${fields.join(', ')}}) AS VARCHAR)`
  return `SELECT ${row} FROM ${from} ${whereOf(all)} LIMIT ${sql.add(bindBigint(limit))}`
}

function yearConditions(sql: Sql, years: Years | null): readonly string[] {
  if (years === null) return []
  const [first, last] = years
  if (first === last) return [`year = ${sql.add(bindBigint(first))}::INTEGER`]
  return [
    `year >= ${sql.add(bindBigint(first))}::INTEGER`,
    `year <= ${sql.add(bindBigint(last))}::INTEGER`,
  ]
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}
