import { join } from 'node:path'
import type { Test } from 'tap'
import { ControlStore } from '../../src/control/store/store.js'
import { periodOf, readUsage } from '../../src/control/usage.js'
import type { Usage } from '../../src/control/usage.js'
import type { World } from './world.js'

/** A second connection to the world's control.db, as the command line has one. */
export function openControl(t: Test, world: World): ControlStore {
  const control = ControlStore.open(join(world.folder, 'var', 'control.db'))
  t.teardown(() => {
    control.close()
  })
  return control
}

/** The rows that the database says a subscription has paid for this month. */
export function usageOf(control: ControlStore, world: World, subscriptionId: string): Usage {
  return readUsage(control, subscriptionId, periodOf(world.clock.ms))
}
