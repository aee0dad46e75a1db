import { constants } from 'node:os'
import { makeForms } from '../engine/duckdb/pack/make-forms.js'
import { givePriority, threadIds } from '../machine.js'
import type { MakeForms } from '../versions/forms/forms-order.js'
import { doOrder } from './child-work.js'

/**
 * The work of `pack-process.ts`. Others go first; later threads inherit the priority. People wait
 * for an index of names, so that it must also be made beside a busy server.
 */
const pack: MakeForms = (order, options) => {
  const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority
  const isAwaited = order.forms.some(({ kind }) => kind === 'names')
  const threads = threadIds()
  givePriority(
    threads.length > 0 ? threads : [process.pid],
    isAwaited ? PRIORITY_BELOW_NORMAL : PRIORITY_LOW,
  )
  return makeForms(order, options)
}

doOrder(pack)
