import {
  DuckDBConnection,
  DuckDBInstance,
  DuckDBPendingResult,
  DuckDBPreparedStatement,
} from '@duckdb/node-api'
import { CallThread } from '../../../src/call-thread.js'
import { hashFile } from '../../../src/versions/hash-file.js'
import type { ToHash } from '../../../src/app/hasher.js'
import { replace } from './replace.js'
import type { Machine } from './machine.js'

type Work = (this: unknown, ...args: unknown[]) => Promise<unknown>

/** Makes the engine's work a part of the machine, and hashes files without a thread. */
export function hookEngine(machine: Machine): void {
  for (const [owner, names] of [
    [DuckDBConnection.prototype, ['run', 'prepare', 'runAndReadAll', 'runAndRead']],
    [DuckDBPreparedStatement.prototype, ['run', 'runAndReadAll']],
    [DuckDBPendingResult.prototype, ['getResult']],
    [DuckDBInstance.prototype, ['connect']],
  ] as const) {
    for (const name of names) {
      const real = Reflect.get(owner, name) as Work
      replace(owner, name, async function wrapped(this: unknown, ...args: unknown[]) {
        machine.step('engine', () => `engine ${name}`)
        return await machine.hold(async () => {
          const result = await real.apply(this, args)
          if (result instanceof DuckDBConnection) {
            machine.opened(result, () => result.disconnectSync())
          }
          return result
        })
      })
    }
  }
  const { create } = DuckDBInstance
  replace(DuckDBInstance, 'create', async (...args: Parameters<typeof create>) => {
    machine.step('engine', () => 'engine start')
    return await machine.hold(async () => {
      const instance = await create.apply(DuckDBInstance, args)
      machine.opened(instance, () => instance.closeSync())
      return instance
    })
  })
  for (const [owner, name] of [
    [DuckDBInstance.prototype, 'closeSync'],
    [DuckDBConnection.prototype, 'disconnectSync'],
  ] as const) {
    const real = Reflect.get(owner, name) as () => void
    replace(owner, name, function wrapped(this: object) {
      machine.closed(this)
      real.call(this)
    })
  }
  replace(CallThread.prototype, 'call', ({ path }: ToHash) => machine.hold(() => hashFile(path)))
}
