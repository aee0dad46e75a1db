import t from 'tap'
import { ServiceError } from '../../../src/errors.js'
import { TrinoError, UnreachableError } from '../../../src/engine/trino/trino-client.js'
import { serviceErrorOf } from '../../../src/engine/trino/trino-failure.js'

// Guarantee: a failure of Trino tells the caller what to do, and nothing about the cluster.

const resources = 'INSUFFICIENT_RESOURCES'
const answers: readonly (readonly [string, string, string])[] = [
  ['NO_NODES_AVAILABLE', resources, 'service_unavailable'],
  ['QUERY_QUEUE_FULL', resources, 'service_unavailable'],
  ['SERVER_STARTING_UP', 'INTERNAL_ERROR', 'service_unavailable'],
  ['TABLE_NOT_FOUND', 'USER_ERROR', 'service_unavailable'],
  ['PERMISSION_DENIED', 'USER_ERROR', 'service_unavailable'],
  ['EXCEEDED_LOCAL_MEMORY_LIMIT', resources, 'timeout'],
  ['EXCEEDED_TIME_LIMIT', resources, 'timeout'],
  ['QUERY_TEXT_TOO_LARGE', 'USER_ERROR', 'bad_request'],
]

for (const [errorName, errorType, code] of answers) {
  await t.test(`${errorName} is ${code}`, async (t) => {
    const message = 'at worker 10.0.0.7 of lake.public.events'
    const found = serviceErrorOf(new TrinoError({ errorName, errorType, message }))
    t.type(found, ServiceError)
    const retryAfterSeconds = code === 'service_unavailable' ? 10 : undefined
    t.match(found, { code, retryAfterSeconds })
    t.notMatch(found, { message: /worker|lake/ })
  })
}

await t.test('a cluster that gives no answer is service_unavailable', async (t) => {
  t.match(serviceErrorOf(new UnreachableError('ECONNREFUSED')), { code: 'service_unavailable' })
})

await t.test('a fault of our statement stays a fault', async (t) => {
  const fault = new TrinoError({ errorName: 'SYNTAX_ERROR', errorType: 'USER_ERROR' })
  t.equal(serviceErrorOf(fault), fault)
})
