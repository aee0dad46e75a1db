import type { ImportTable } from '../versions/tables/import-table.js'
import { workAside } from './child-work.js'

const program = new URL('./import-worker.js', import.meta.url)
/** A workbook of 50 MB takes half of it. */
const heapMegabytesMax = 1500

/**
 * Imports in a process of its own with a bounded heap: whatever a file does to that process, this
 * one goes on and says so.
 */
export const importAside: ImportTable = (order, options) => {
  const lost = (why: string) =>
    new Error(
      `The process that reads ${order.file} ended (${why}), and nothing was written. Save it as ` +
        'CSV, or in smaller parts.',
    )
  return workAside(program, order, options, lost, [`--max-old-space-size=${heapMegabytesMax}`])
}
