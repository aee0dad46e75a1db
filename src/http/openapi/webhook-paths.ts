import { eventTypes } from '../../control/hooks/webhooks.js'
import type { ErrorCode } from '../../errors.js'
import { answers, bodyErrors, jsonAnswer, limits, tokenErrors } from './answers.js'
import { int32, int64, refTo } from './json.js'
import type { Json } from './json.js'

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const time = { type: 'string', format: 'date-time' }
const watched = { dataset: text, column: text, fields: listOf(text) }
const hook = { url: text, events: listOf(text), watch: textOrNull }
const keptHook = {
  id: text,
  ...hook,
  state: { ...text, description: '`active` or `ended`.' },
  created_at: time,
}
const attempt = { status: { ...int32, type: ['integer', 'null'] }, error: textOrNull }
const delivery = { n: int64, at: time, ...attempt, type: text, state: text, attempts: int32 }

/** Of a request: answers may have types of later versions. */
const event = { type: 'string', enum: eventTypes }

/** What the paths of watch lists and webhooks take and answer. */
export const webhookSchemas: Readonly<Record<string, Json>> = {
  WatchList: objectOf({ name: text, ...watched, values: listOf(text) }),
  WatchLists: objectOf({ data: listOf(objectOf({ name: text, ...watched, count: int32 })) }),
  NewWatchList: bodyObject({ ...watched, values: listOf(text) }, ['dataset', 'column', 'values']),
  Webhooks: objectOf({ data: listOf(objectOf(keptHook)) }),
  NewWebhook: bodyObject({ url: text, events: listOf(event), watch: text }, ['url', 'events']),
  WebhookSecret: objectOf({ ...keptHook, secret: text }),
  WebhookTest: objectOf({ delivered: { type: 'boolean' }, ...attempt }),
  Delivery: objectOf({ ...delivery, next_attempt_at: textOrNull }),
  Deliveries: objectOf({ data: listOf(refTo('schemas', 'Delivery')), next_cursor: textOrNull }),
}

/** The paths of watch lists and webhooks, under this tag. */
export function webhookPaths(tag: string): Readonly<Record<string, Json>> {
  const operation = (operationId: string, summary: string, description: string, rest: Json) => {
    return { operationId, tags: [tag], summary, description, ...rest }
  }
  const ok = (schema: string, status = 200, errors: readonly ErrorCode[] = []) =>
    answersOf({ [status]: jsonAnswer('As it is now.', schema, limits) }, errors)
  const gone = answersOf({ 204: { description: 'Deleted.' } })
  const ofHook = [pathParameter('id', 'The id of a webhook.')]
  const ofDelivery = [...ofHook, pathParameter('n', 'The number of a delivery.')]
  const ofList = [pathParameter('name', 'The name of a watch list.')]
  const cursor = { name: 'cursor', in: 'query', schema: text, description: 'The `next_cursor`.' }
  return {
    '/v1/watch': {
      get: operation('watchLists', 'Watch lists', 'Without their values.', ok('WatchLists')),
    },
    '/v1/watch/{name}': {
      parameters: ofList,
      get: operation('watchList', 'A watch list', 'With its values.', ok('WatchList')),
      put: operation('putWatchList', 'Store a watch list', 'Replaces one of this name.', {
        ...bodyOf('NewWatchList'),
        ...ok('WatchList', 200, bodyErrors),
      }),
      delete: operation('deleteWatchList', 'Delete a watch list', 'Not while it is used.', gone),
    },
    '/v1/webhooks': {
      get: operation('webhooks', 'Webhooks', 'Without their secrets.', ok('Webhooks')),
      post: operation('addWebhook', 'Add a webhook', 'The secret is shown once.', {
        ...bodyOf('NewWebhook'),
        ...ok('WebhookSecret', 201, bodyErrors),
      }),
    },
    '/v1/webhooks/{id}': {
      parameters: ofHook,
      delete: operation('deleteWebhook', 'Delete a webhook', 'With its deliveries.', gone),
    },
    '/v1/webhooks/{id}/test': {
      parameters: ofHook,
      post: operation('testWebhook', 'Send a test', 'Waits for the receiver.', ok('WebhookTest')),
    },
    '/v1/webhooks/{id}/secret': {
      parameters: ofHook,
      post: operation('changeSecret', 'Change it', 'Both sign for a day.', ok('WebhookSecret')),
    },
    '/v1/webhooks/{id}/deliveries': {
      parameters: ofHook,
      get: operation('deliveries', 'Deliveries', 'The newest first, of the last 30 days.', {
        parameters: [cursor],
        ...ok('Deliveries'),
      }),
    },
    '/v1/webhooks/{id}/deliveries/{n}/resend': {
      parameters: ofDelivery,
      post: operation('resend', 'Send a delivery again', 'With the same id.', ok('Delivery', 202)),
    },
  }
}

function answersOf(successes: Json, errors: readonly ErrorCode[] = []): Json {
  const codes = [...tokenErrors, 'not_found', ...errors, 'service_unavailable'] as const
  return { responses: answers(successes, codes) }
}

function bodyOf(schema: string): Json {
  const content = { 'application/json': { schema: refTo('schemas', schema) } }
  return { requestBody: { required: true, content } }
}

function pathParameter(name: string, description: string): Json {
  return { name, in: 'path', required: true, schema: text, description }
}

function listOf(items: Json): Json {
  return { type: 'array', items }
}

function objectOf(properties: Readonly<Record<string, Json>>): Json {
  return { type: 'object', required: Object.keys(properties), properties }
}

/** Of a request: it has no other members. */
function bodyObject(properties: Readonly<Record<string, Json>>, required: readonly string[]): Json {
  return { type: 'object', required, properties, additionalProperties: false }
}
