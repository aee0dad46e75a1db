import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { hookDatabase } from './hook-database.js'
import { hookEngine } from './hook-engine.js'
import { hookFiles } from './hook-files.js'
import { Machine } from './machine.js'
import { replace } from './replace.js'

/** Makes this process a simulated machine, once and for good. */
export async function becomeMachine(): Promise<Machine> {
  const machine = new Machine()
  // One core: the engine has one thread.
  replace(os, 'availableParallelism', () => 1)
  syncBuiltinESMExports()
  // A report takes as long as a start otherwise; the limits in it stay the same.
  const report = process.report.getReport()
  replace(process.report, 'getReport', () => report)
  await hookFiles(machine)
  hookDatabase(machine)
  hookEngine(machine)
  return machine
}
