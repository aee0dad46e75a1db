import { answers, jsonAnswer, limits, readErrors, tokenErrors } from './answers.js'
import { parameterRefs, refTo } from './json.js'
import type { Json } from './json.js'
import { webhookPaths } from './webhook-paths.js'

/** No dataset's name has a capital letter. */
export const serviceTag = 'Service'

/** The paths that are not of one dataset. `hasEntities`: a dataset has some. */
export function servicePaths(hasEntities: boolean): Readonly<Record<string, Json>> {
  return {
    ...tokenPaths(),
    ...(hasEntities && { '/v1/find': findPath() }),
    ...webhookPaths(serviceTag),
    ...healthPaths(),
    '/openapi.json': documentPath(),
  }
}

function findPath(): Json {
  const found = jsonAnswer('The entities.', 'Found', ['X-Rows-Charged', 'X-Left-Out', ...limits])
  return get(
    'find',
    'Entities of all datasets by name or key',
    'As in one dataset; those with no rows left this month are left out.',
    {
      parameters: parameterRefs('q', 'find.limit', 'explain'),
      responses: answers({ 200: found }, [...tokenErrors, 'not_acceptable', ...readErrors]),
    },
  )
}

function get(operationId: string, summary: string, description: string, rest: Json): Json {
  return { get: { operationId, tags: [serviceTag], summary, description, ...rest } }
}

function tokenPaths(): Readonly<Record<string, Json>> {
  const list = jsonAnswer('The datasets.', 'DatasetList', ['ETag', ...limits])
  const account = jsonAnswer('The account.', 'Account', limits)
  return {
    // Without parameters, so that generated clients ask it first and simply.
    '/v1': get('datasets', 'The datasets of this token', 'Rows that this token can see.', {
      responses: answers({ 200: list, 304: refTo('responses', '304') }, [
        ...tokenErrors,
        ...readErrors,
      ]),
    }),
    '/v1/account': get(
      'account',
      'Limits and usage of this token',
      'Plans, rows used and left, the rate, and when the token ends.',
      { responses: answers({ 200: account }, tokenErrors) },
    ),
  }
}

function healthPaths(): Readonly<Record<string, Json>> {
  const ready = jsonAnswer('Ready.', 'Ready', [])
  return {
    '/healthz': get('healthz', 'Alive', 'Answers as long as the process runs.', {
      security: [],
      responses: answers({ 200: jsonAnswer('Alive.', 'Status', []) }, []),
    }),
    '/readyz': get(
      'readyz',
      'Ready to serve',
      'Whether data can be served and counted, and whether the newest is served.',
      { security: [], responses: answers({ 200: ready }, ['service_unavailable']) },
    ),
  }
}

function documentPath(): Json {
  const document = jsonAnswer('An OpenAPI 3.1 document.', 'Document', ['ETag', ...limits])
  return get(
    'openapi',
    'This document',
    'With a token: its datasets. Without: the datasets that are listed for everyone.',
    {
      security: [{}, { token: [] }],
      parameters: parameterRefs('datasets', 'If-None-Match'),
      responses: answers({ 200: document, 304: refTo('responses', '304') }, [
        ...tokenErrors,
        'not_found',
        ...readErrors,
      ]),
    },
  )
}
