import { join } from 'node:path'
import type { Test } from 'tap'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { periodOf, readUsage } from '../../src/control/usage.js'
import type { Usage } from '../../src/control/usage.js'
import { openRecordsOf } from './database.js'
import type { World } from './world.js'
import { machine } from './machine.js'

/** A second connection to the world's records, as the command line has one. */
export function openControl(t: Test, world: World): ControlStore {
  const control = openRecordsOf(join(world.folder, 'var'))
  t.teardown(async () => {
    await control.close()
  })
  return control
}

/** The same, in a test that needs the file. */
export function openControlFile(t: Test, world: World): SqliteStore {
  const control = SqliteStore.open(join(world.folder, 'var', 'control.db'), machine)
  t.teardown(async () => {
    await control.close()
  })
  return control
}

/** The rows that the database says a subscription has paid for this month. */
export function usageOf(
  control: ControlStore,
  world: World,
  subscriptionId: string,
): Promise<Usage> {
  return readUsage(control, subscriptionId, periodOf(world.clock.ms))
}
