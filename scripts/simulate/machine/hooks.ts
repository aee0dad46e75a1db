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
  await hookFiles(machine)
  hookDatabase(machine)
  hookEngine(machine)
  return machine
}
