import { DuckDBInstance } from '@duckdb/node-api'
import type { Test } from 'tap'
import type { ToolCaller } from './mcp-calls.js'

/** What a task of an agent gets: a table column by column, or the entries of `find` in `data`. */
export interface Answer {
  readonly text: string
  readonly columns?: readonly string[]
  readonly data:
    Readonly<Record<string, readonly unknown[]>> | readonly Readonly<Record<string, unknown>>[]
}

export type Rows = readonly (readonly unknown[])[]

export const financials = "read_parquet('data/financials/*.parquet')"
export const procurement = "read_parquet('data/procurement/*.parquet')"
export const okved = "read_csv('data/dictionaries/okved2.csv', all_varchar = true)"

/** The answer of a tool. @throws Error when it is a refusal */
export async function ask(client: ToolCaller, name: string, args: object): Promise<Answer> {
  const result = (await client.callTool({ name, arguments: { ...args } })) as {
    content: { text: string }[]
    structuredContent?: Omit<Answer, 'text'>
    isError?: true
  }
  const text = result.content[0]?.text ?? ''
  if (result.isError || !result.structuredContent) {
    throw new Error(`${name} ${JSON.stringify(args)}: ${text}`)
  }
  // On a busy machine the facts of columns may be late; the answer then says so.
  if (text.includes('"profiled_rows":null')) return ask(client, name, args)
  return { text, ...result.structuredContent }
}

/** The values of one column of an answer, or of one member of its entries. */
export function valuesOf({ data }: Answer, name: string): readonly unknown[] {
  if (!Array.isArray(data)) return (data as Record<string, readonly unknown[]>)[name] ?? []
  return data.map((entry: Readonly<Record<string, unknown>>) => entry[name])
}

/** The rows of an answer. */
export function rowsOf(answer: Answer, columns = answer.columns ?? []): Rows {
  const cells = columns.map((name) => valuesOf(answer, name))
  return (cells[0] ?? []).map((_, row) => cells.map((values) => values[row]))
}

/**
 * Rows with cells that are equal for equal values: fractions of 12 digits, because two ways to divide
 * may differ in the last ones; all else as text.
 */
export function plainRows(rows: Rows): readonly (readonly string[])[] {
  return rows.map((row) => row.map(plainCell))
}

function plainCell(cell: unknown): string {
  const isFraction = /^-?\d+\.\d+(e-?\d+)?$/.test(String(cell))
  return isFraction ? Number(Number(cell).toPrecision(12)).toString() : String(cell)
}

/** Reads the rows of a statement in a DuckDB of the test's own. */
export async function openSql(t: Test): Promise<(sql: string) => Promise<Rows>> {
  const connection = await (await DuckDBInstance.create()).connect()
  t.teardown(() => connection.closeSync())
  return async (sql) => (await connection.runAndReadAll(sql)).getRowsJson()
}
