import { PackError } from '../versions/packing/packer.js'
import type { PackFiles } from '../versions/packing/packer.js'
import { workAside } from './child-work.js'

const program = new URL('./pack-worker.js', import.meta.url)
const lost = (why: string) => new PackError(`The packing process ended unexpectedly (${why}).`)

/** Packs in a process of its own, at low priority; the next call goes on with what was aborted. */
export const packAside: PackFiles = (order, options) => workAside(program, order, options, lost)
