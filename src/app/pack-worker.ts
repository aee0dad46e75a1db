import { constants } from 'node:os'
import { duckDbPacker } from '../engine/duckdb/pack/pack.js'
import { givePriority, threadIds } from '../machine.js'
import type { PackFiles } from '../versions/packing/packer.js'
import { doOrder } from './child-work.js'

/** The work of `pack-process.ts`. Others go first; later threads inherit the priority. */
const pack: PackFiles = (order, options) => {
  const threads = threadIds()
  givePriority(threads.length > 0 ? threads : [process.pid], constants.priority.PRIORITY_LOW)
  return duckDbPacker()(order, options)
}

doOrder(pack)
