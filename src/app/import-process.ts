import type { ImportTable } from '../versions/tables/import-table.js'
import { workAside } from './child-work.js'

const program = new URL('./import-worker.js', import.meta.url)
/** In megabytes; a workbook of 50 MB takes half of it. */
const heap = '--max-old-space-size=1500'

/** Imports in a process of its own with a bounded heap: whatever a file does, this one says so. */
export const importAside: ImportTable = (order, options) => {
  const lost = (why: string) =>
    new Error(
      `The process that read ${order.file} ended (${why}), and nothing was written. Save it as ` +
        'CSV, or in smaller parts.',
    )
  return workAside(program, order, options, lost, [heap])
}
