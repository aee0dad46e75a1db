import type { Message } from '../harness/http.js'
import type { Question, RowsQuestion } from './questions.js'

/** What answers over HTTP, by the requests that it takes. */
export type Dialect = 'das' | 'postgres' | 'duckdb' | 'roapi'

/** A place in a walk: our cursor, or how many rows to leave out; null = the start. */
export type Place = string | null

export type Row = Readonly<Record<string, unknown>>

/** An answer with its rows. */
export interface Page {
  readonly rows: readonly Row[]
  /** Where a walk continues; null at its end. */
  readonly next: Place
}

/** The name of the table of all contestants but das. */
export const table = 'financials'

/** The request for a question; null where it can't be asked. */
export function messageOf(
  dialect: Dialect,
  dataset: string,
  question: Question,
  place: Place = null,
): Message | null {
  if (dialect === 'roapi') return sqlMessage('/api/sql', sqlOf(question, place))
  if (question.kind === 'summary') {
    // Both datasets have the same content, for which small answers are kept.
    const another = dataset === 'packed' ? '&year=gte.0' : ''
    if (dialect === 'das') return getMessage(`/v1/${dataset}${question.path}${another}`)
    return dialect === 'duckdb' ? sqlMessage('/sql', question.sql(table)) : null
  }
  return dialect === 'das'
    ? dasMessage(dataset, question, place)
    : getMessage(`/${table}?${parametersOf(question)}&offset=${place ?? 0}`)
}

/** The rows of an answer. */
export function pageOf(dialect: Dialect, limit: number, place: Place, text: string): Page {
  const found: unknown = JSON.parse(text)
  if (dialect === 'das') {
    // Rows and aggregates as our contract defines them.
    const { data, next_cursor: next = null } = found as { data: Row[]; next_cursor?: Place }
    return { rows: data, next }
  }
  // The peers answer with rows, in an object or not.
  const rows = Array.isArray(found) ? (found as Row[]) : (found as { data: Row[] }).data
  const next = String(Number(place ?? 0) + rows.length)
  return { rows, next: rows.length < limit ? null : next }
}

function dasMessage(dataset: string, question: RowsQuestion, place: Place): Message {
  const { by, select, limit } = question
  if (by && by.values.length > 1) {
    const filters = [{ column: by.column, op: 'in', value: by.values }]
    const body = JSON.stringify({ filters, select, limit })
    return { method: 'POST', path: `/v1/${dataset}/query`, body }
  }
  const cursor = place === null ? '' : `&cursor=${place}`
  return getMessage(`/v1/${dataset}?${parametersOf(question, 'contains.')}${cursor}`)
}

function parametersOf(question: RowsQuestion, contains?: string): string {
  const { select, by, year, okved, word, limit } = question
  const values = by && (by.values.length > 1 ? `in.${by.values.join()}` : `eq.${by.values[0]}`)
  const isLike = contains === undefined
  return [
    by && `${by.column}=${values}`,
    year !== null && `year=eq.${year}`,
    okved !== null && `okved=like.${okved}*`,
    word !== null && `name=${isLike ? `like.*${word}*` : `${contains}${word}`}`,
    select && `select=${select.join()}`,
    `limit=${limit}`,
  ]
    .filter(Boolean)
    .join('&')
}

function getMessage(path: string): Message {
  return { method: 'GET', path, body: '' }
}

function sqlMessage(path: string, body: string): Message {
  return { method: 'POST', path, body, type: 'text/plain' }
}

/** SQL of a question; the values are the benchmark's own and hold no quotes. */
function sqlOf(question: Question, place: Place): string {
  if (question.kind === 'summary') return question.sql(table)
  const columns = question.select?.map((name) => `"${name}"`).join(', ') ?? '*'
  const offset = place === null ? '' : ` OFFSET ${place}`
  return `SELECT ${columns} FROM ${table} ${whereOf(question)} LIMIT ${question.limit}${offset}`
}

/** The conditions of a question in SQL, with its values as they are. */
function whereOf({ by, year, okved, word }: RowsQuestion): string {
  const list = by?.values.map((value) => `'${value}'`).join(', ')
  const conditions = [
    by && `${by.column} ${by.values.length > 1 ? `IN (${list})` : `= ${list}`}`,
    year !== null && `year = ${year}`,
    okved !== null && `okved LIKE '${okved}%'`,
    word !== null && `name LIKE '%${word}%'`,
  ].filter(Boolean)
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}
