import { constants } from 'node:os'
import { makeForms } from '../engine/duckdb/pack/make-forms.js'
import { givePriority, threadIds } from '../machine.js'
import type { MakeForms } from '../versions/forms/forms-order.js'
import { doOrder } from './child-work.js'

/** The work of `pack-process.ts`. Others go first; later threads inherit the priority. */
const pack: MakeForms = (order, options) => {
  const threads = threadIds()
  givePriority(threads.length > 0 ? threads : [process.pid], constants.priority.PRIORITY_LOW)
  return makeForms(order, options)
}

doOrder(pack)
