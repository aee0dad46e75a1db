import type { Test } from 'tap'
import { startWorld } from './world.js'
import type { World, WorldOptions } from './world.js'

/** The world that `npm start` serves: the repository's own registry and data, a state of its own. */
export function startShipped(t: Test, options: Partial<WorldOptions> = {}): Promise<World> {
  const settings = { registry: 'registry.yaml', trustProxy: '127.0.0.1', ...options.settings }
  return startWorld(t, { files: {}, registry: '', ...options, settings })
}
