import { PackError } from '../versions/forms/forms-order.js'
import type { MakeForms } from '../versions/forms/forms-order.js'
import { workAside } from './child-work.js'

const program = new URL('./pack-worker.js', import.meta.url)
const lost = (why: string) => new PackError(`The packing process ended unexpectedly (${why}).`)

/** Makes forms in a process of its own, at low priority; finished ones stay after an abort. */
export const makeFormsAside: MakeForms = (order, options) =>
  workAside(program, order, options, lost)
