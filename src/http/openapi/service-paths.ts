import { answers, jsonAnswer, limits, readErrors, tokenErrors } from './answers.js'
import { refTo } from './json.js'
import type { Json } from './json.js'

/** No dataset's name has a capital. */
export const serviceTag = 'Service'

/** The paths that are there whatever datasets are. */
export function servicePaths(): Readonly<Record<string, Json>> {
  return {
    '/v1': {
      get: {
        operationId: 'datasets',
        tags: [serviceTag],
        summary: 'The datasets of this token',
        description: 'Rows are those that this token can see.',
        responses: answers({ 200: jsonAnswer('The datasets.', 'DatasetList', limits) }, [
          ...tokenErrors,
          ...readErrors,
        ]),
      },
    },
    '/v1/account': {
      get: {
        operationId: 'account',
        tags: [serviceTag],
        summary: 'What this token may do and has used',
        description: 'Plans, rows used and left, the rate, and when the token ends.',
        responses: answers({ 200: jsonAnswer('The account.', 'Account', limits) }, tokenErrors),
      },
    },
    '/healthz': {
      get: {
        operationId: 'healthz',
        tags: [serviceTag],
        summary: 'Alive',
        description: 'Answers as long as the process does.',
        security: [],
        responses: answers({ 200: jsonAnswer('Alive.', 'Status', []) }, []),
      },
    },
    '/readyz': {
      get: {
        operationId: 'readyz',
        tags: [serviceTag],
        summary: 'Ready to serve',
        description: 'Whether data can be served and counted, and whether the newest is served.',
        security: [],
        responses: answers({ 200: jsonAnswer('Ready.', 'Ready', []) }, ['service_unavailable']),
      },
    },
    '/openapi.json': {
      get: {
        operationId: 'openapi',
        tags: [serviceTag],
        summary: 'This document',
        description: 'With a token: of its datasets. Without: of those that are open to anybody.',
        security: [{}, { token: [] }],
        parameters: [refTo('parameters', 'If-None-Match')],
        responses: answers(
          {
            200: jsonAnswer('An OpenAPI 3.1 document.', 'Document', ['ETag', ...limits]),
            304: refTo('responses', '304'),
          },
          [...tokenErrors, ...readErrors],
        ),
      },
    },
  }
}
