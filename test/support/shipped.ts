import type { Test } from 'tap'
import { startWorld } from './world.js'
import type { World } from './world.js'

/** The world that `npm start` serves: the repository's own registry and data, a state of its own. */
export function startShipped(t: Test): Promise<World> {
  return startWorld(t, { files: {}, registry: '', settings: { registry: 'registry.yaml' } })
}
