import { PackError } from '../versions/packing/packer.js'
import type { PackFiles } from '../versions/packing/packer.js'
import { workAside } from './child-work.js'

const program = new URL('./pack-worker.js', import.meta.url)

/**
 * Packs in a separate process while the server answers requests: with its own memory, at low
 * priority. The next call continues the work of one that was aborted.
 */
export const packAside: PackFiles = (order, options) =>
  workAside(program, order, options, (why) => {
    return new PackError(`The packing process ended unexpectedly (${why}).`)
  })
