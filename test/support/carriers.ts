import type { Test } from 'tap'
import type { Answer, World } from './world.js'

/** A question as a test writes it; it goes through the URL and through POST alike. */
export interface TestQuestion {
  readonly filters?: readonly TestFilter[]
  readonly select?: readonly string[]
  readonly limit?: number
  readonly cursor?: string
}

export type TestFilter = readonly [column: string, op: string, value?: TestValue]
export type TestValue = Scalar | readonly Scalar[]
type Scalar = string | number | boolean

/** The question as a query string, everything but letters and digits percent-encoded. */
export function urlQuery({ filters = [], select, limit, cursor }: TestQuestion): string {
  const parts = filters.map(([column, op, value]) => {
    const text = value === undefined ? op : `${op}.${valueText(value)}`
    return `${encodeURIComponent(column)}=${encodeURIComponent(text)}`
  })
  if (select) parts.push(`select=${encodeURIComponent(select.map(quotedElement).join())}`)
  if (limit !== undefined) parts.push(`limit=${limit}`)
  if (cursor !== undefined) parts.push(`cursor=${encodeURIComponent(cursor)}`)
  return parts.join('&')
}

/** The question as the body of `POST /v1/<dataset>/query`. */
export function jsonBody({ filters = [], ...rest }: TestQuestion): string {
  return JSON.stringify({
    filters: filters.map(([column, op, value]) => ({ column, op, value })),
    ...rest,
  })
}

/** Asks one question both ways; the answers must be the same to the byte and the tag. */
export async function askBoth(
  t: Test,
  world: World,
  token: string,
  dataset: string,
  question: TestQuestion,
): Promise<Answer> {
  const query = urlQuery(question)
  const byUrl = await world.get(`/v1/${dataset}?${query}`, token)
  const byBody = await world.post(`/v1/${dataset}/query`, token, jsonBody(question))
  if (byUrl.text !== byBody.text || byUrl.status !== byBody.status) {
    t.equal(byBody.text, byUrl.text, query)
  }
  t.equal(byBody.headers['etag'], byUrl.headers['etag'], query)
  return byUrl
}

function valueText(value: TestValue): string {
  return Array.isArray(value)
    ? value.map((each) => quotedElement(String(each))).join()
    : String(value)
}

/** An element of a list: quoted where it has to be. */
function quotedElement(text: string): string {
  if (text !== '' && !/[,"\\(]/.test(text)) return text
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
