import { partAt, partsAt, refName, resolved, textAt } from './parts.js'
import type { Part } from './parts.js'

/** An operation of the document with its references resolved one level deep. */
export interface Operation {
  /** Unique on a page and safe in a URL. */
  readonly id: string
  /** In capital letters. */
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  /** False where a request needs no token. */
  readonly needsToken: boolean
  /** Without the filters. */
  readonly parameters: readonly Part[]
  /** The filters on columns, one for each column that can be filtered in the URL. */
  readonly filters: readonly Part[]
  /** The schema of the body and an example of it; null if no body is sent. */
  readonly body: { readonly schema: Part; readonly example: unknown } | null
  readonly answers: readonly Answer[]
  /** What HEAD does on this path; empty if it is not allowed. */
  readonly head: string
  /** As in the document. */
  readonly part: Part
}

export interface Answer {
  readonly status: number
  readonly part: Part
}

/** The operations with this tag, in the document's order; HEAD belongs to its GET. */
export function operationsOf(document: Part, tag: string): readonly Operation[] {
  const paths = partAt(document, 'paths')
  return Object.keys(paths).flatMap((path) => {
    const methods = partAt(paths, path)
    const head = textAt(partAt(methods, 'head'), 'description')
    return Object.keys(methods)
      .filter((method) => method !== 'head')
      .map((method) => ({ method, part: partAt(methods, method) }))
      .filter(({ part }) => Array.isArray(part['tags']) && part['tags'].includes(tag))
      .map(({ method, part }) => ({
        ...operationOf(document, part),
        method: method.toUpperCase(),
        path,
        head: method === 'get' ? head : '',
      }))
  })
}

function operationOf(document: Part, part: Part): Omit<Operation, 'method' | 'path' | 'head'> {
  const parameters = partsAt(part, 'parameters').map((each) => resolved(document, each))
  const responses = partAt(part, 'responses')
  return {
    id: `operation-${textAt(part, 'operationId')}`,
    summary: textAt(part, 'summary'),
    description: textAt(part, 'description'),
    needsToken: part['security'] === undefined,
    parameters: parameters.filter((each) => !isFilter(each)),
    filters: parameters.filter(isFilter),
    body: bodyOf(partAt(part, 'requestBody')),
    answers: Object.keys(responses).map((status) => ({
      status: Number(status),
      part: resolved(document, partAt(responses, status)),
    })),
    part,
  }
}

function isFilter(parameter: Part): boolean {
  return refName(partAt(partAt(parameter, 'schema'), 'items')).endsWith('.Filter')
}

function bodyOf(body: Part): Operation['body'] {
  const json = partAt(partAt(body, 'content'), 'application/json')
  if (json['schema'] === undefined) return null
  const [example] = Object.values(partAt(json, 'examples'))
  return { schema: partAt(json, 'schema'), example: partAt({ example }, 'example')['value'] }
}
