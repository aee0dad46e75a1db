import { hookDatabase } from './hook-database.js'
import { hookEngine } from './hook-engine.js'
import { hookFiles } from './hook-files.js'
import { hookTime } from './hook-time.js'
import { Machine } from './machine.js'

/** Makes this process a simulated machine, once and for good. */
export async function becomeMachine(): Promise<Machine> {
  const machine = new Machine()
  hookTime(machine)
  await hookFiles(machine)
  hookDatabase(machine)
  hookEngine(machine)
  return machine
}
