import { constants } from 'node:os'
import { duckDbPacker } from '../engine/duckdb/pack/pack.js'
import { givePriority, threadIds } from '../machine.js'
import { doOrder } from './child-work.js'

// The process of `pack-process.ts`. Others go first; threads that start later inherit the priority.

const pack = duckDbPacker()

doOrder<Parameters<typeof pack>[0], Parameters<Parameters<typeof pack>[1]['report']>[0]>(
  (order, options) => {
    const threads = threadIds()
    givePriority(threads.length > 0 ? threads : [process.pid], constants.priority.PRIORITY_LOW)
    return pack(order, options)
  },
)
