import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { authorize } from '../../../access/access.js'
import { requireSubscriber } from '../../../access/principal.js'
import { parseFilterValue } from '../../../columns/filter-value.js'
import {
  deleteWatchList,
  findWatchList,
  listWatchLists,
  putWatchList,
} from '../../../control/hooks/watch-lists.js'
import type { WatchList } from '../../../control/hooks/watch-lists.js'
import type { ControlStore } from '../../../control/store/store.js'
import { badRequest, notFound } from '../../../errors.js'
import { reading } from '../../../http/request-context.js'
import { findColumn } from '../../../query/check-parts.js'
import { shapeReader } from '../../../query/read-shape.js'
import type { Caller } from '../../../service.js'
import { addHeld, addOwned, jsonOf } from './webhook-routes.js'
import type { HookRouteParts } from './webhook-routes.js'

interface WatchParams {
  readonly name: string
}

const valuesMax = 10_000

const NewList = Type.Object(
  {
    dataset: Type.String({ description: 'the name of a dataset' }),
    column: Type.String({ description: 'the name of a column' }),
    values: Type.Array(Type.String({ description: 'a value as a text' }), {
      minItems: 1,
      maxItems: valuesMax,
      description: `a list of 1 to ${valuesMax} values`,
    }),
    fields: Type.Optional(
      Type.Array(Type.String({ description: 'a column name' }), {
        description: 'a list of column names',
      }),
    ),
  },
  { additionalProperties: false, description: 'an object {dataset, column, values, fields}' },
)
const readList = shapeReader(NewList, 'the body')

const namePattern = /^[a-z0-9_-]{1,64}$/
/** The paths of a dataset stay its own, where one is called `watch`. */
const listUrl =
  '/v1/watch/:name(^(?!(?:schema|query|top|aggregate|export|find|versions|changes)$).+$)'

/** Adds `/v1/watch` and what is below it. */
export function addWatchLists(app: FastifyInstance, parts: HookRouteParts): void {
  const { store } = parts
  addOwned(app, parts, 'watch', async ({ subscriptionId }) => {
    return { data: await listWatchLists(store, subscriptionId) }
  })
  addHeld<WatchParams>(app, parts, 'PUT', listUrl, async (asked) => {
    const { caller, params, request, reply } = asked
    return await putOwnList(store, caller, params.name, await jsonOf(parts, request, reply))
  })
  addHeld<WatchParams>(app, parts, reading, listUrl, async ({ subscriptionId, params }) => {
    return (await findWatchList(store, subscriptionId, params.name)) ?? noList()
  })
  addHeld<WatchParams>(app, parts, 'DELETE', listUrl, async ({ subscriptionId, params, reply }) => {
    if (!(await deleteWatchList(store, subscriptionId, params.name))) noList()
    return reply.code(204).send()
  })
}

/** Stores the list that a holder described, and returns it. @throws as `checkedList` */
export async function putOwnList(
  store: ControlStore,
  caller: Caller,
  name: string,
  content: unknown,
): Promise<WatchList> {
  const list = checkedList(caller, name, content)
  await putWatchList(store, requireSubscriber(caller.principal).id, list)
  return list
}

function noList(): never {
  throw notFound('This subscription has no such watch list.')
}

/** @throws bad_request, not_found for what the caller can't see */
function checkedList(caller: Caller, name: string, content: unknown): WatchList {
  if (!namePattern.test(name)) {
    throw badRequest('A name of a list has 1 to 64 characters of a-z, 0-9, "_" and "-".')
  }
  const { dataset, column: columnName, values, fields = [] } = readList(content)
  const access = authorize(caller.principal, caller.catalog, dataset)
  const column = findColumn(access, columnName)
  for (const value of values) parseFilterValue(column, value)
  for (const field of fields) findColumn(access, field)
  const once = { values: [...new Set(values)], fields: [...new Set(fields)] }
  return { name, dataset, column: columnName, ...once }
}
