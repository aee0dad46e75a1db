import type { QueryAnswer } from '../../src/mcp/query-answer.js'
import { callTool } from './mcp/mcp-messages.js'
import type { World } from './world.js'

/** The answer of a query that is no error. */
export async function query(world: World, token: string, args: object): Promise<QueryAnswer> {
  const { content, isError, text } = await callTool(world, token, 'query', args)
  if (isError) throw new Error(`no answer: ${text}`)
  return content as unknown as QueryAnswer
}

/** Rows again from an answer's columns, each a list of values in the order of the columns. */
export function rowsOf({ columns, data, row_count: count }: QueryAnswer): readonly unknown[][] {
  return Array.from({ length: count }, (_, row) => columns.map((name) => data[name]?.[row]))
}

/**
 * Rows of a REST answer, values in the order of the columns; every number is the text that stands
 * in the body, behind a `#`, so that no reader rounds it.
 */
export function restRows(text: string, columns: readonly string[]): readonly unknown[][] {
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token.replace(/^"#/, '"##') : `"#${token}"`,
  )
  const { data } = JSON.parse(marked) as { data: Readonly<Record<string, unknown>>[] }
  return data.map((row) => columns.map((name) => row[name]))
}

/**
 * True where a cell of an answer is the cell of the REST answer: a number where every JSON reader
 * keeps it, else the very digits as a string.
 */
export function sameCell(cell: unknown, rest: unknown): boolean {
  if (typeof rest === 'string' && rest.startsWith('#') && !rest.startsWith('##')) {
    const digits = rest.slice(1)
    return isExactNumber(digits) ? cell === Number(digits) : cell === digits
  }
  if (Array.isArray(rest) && Array.isArray(cell)) {
    return rest.length === cell.length && rest.every((each, index) => sameCell(cell[index], each))
  }
  return cell === (typeof rest === 'string' ? rest.replace(/^##/, '#') : rest)
}

/** Whether every JSON reader keeps the digits of a number. */
export function isExactNumber(text: string): boolean {
  const significant = text
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '')
  const size = Math.abs(Number(text))
  return significant.length <= 15 && size <= Number.MAX_SAFE_INTEGER && !isTiny(size)
}

/** Numbers that doubles hold with fewer digits than usual. */
function isTiny(value: number): boolean {
  return value !== 0 && Math.abs(value) < 2.2250738585072014e-308
}
