import { statfs } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { machineMemory } from '../../../machine.js'
import { PackError, bytesOfForms } from '../../../versions/forms/forms-order.js'
import type { FormsOrder } from '../../../versions/forms/forms-order.js'

/** Limits of one packing. */
export interface PackLimits {
  readonly memoryLimitBytes: number
  /** Work that is done side by side. */
  readonly jobs: number
  /** For sorts that don't fit in memory. */
  readonly tempSizeMaxBytes: number
}

/** More memory hardly speeds packing up. */
const memoryBytesMax = 2 * 1024 ** 3
const memoryShareMax = 0.4
/** What one job needs: a batch of rows as texts, and what the engine reads for it. */
const jobBytesMin = 256 * 1024 ** 2
const reserveBytes = 256 * 1024 ** 2

/**
 * The limits of packing on this machine.
 * @throws PackError if the disk has too little space
 */
export async function packLimits(order: FormsOrder): Promise<PackLimits> {
  const memoryLimitBytes = order.memoryLimitBytes ?? ownMemory()
  const { bavail, bsize } = await statfs(order.folder)
  const [freeBytes, formBytes] = [bavail * bsize, await bytesOfForms(order)]
  const wantedBytes = formBytes + reserveBytes
  if (freeBytes < wantedBytes) {
    throw new PackError(
      `Packing may need ${gigabytes(wantedBytes)} GB of disk in the state folder, and ` +
        `${gigabytes(freeBytes)} GB are free. Free some space.`,
    )
  }
  const jobs = Math.min(availableParallelism(), Math.floor(memoryLimitBytes / jobBytesMin))
  return {
    memoryLimitBytes,
    jobs: Math.max(1, jobs),
    tempSizeMaxBytes: freeBytes - formBytes - reserveBytes / 2,
  }
}

function ownMemory(): number {
  return Math.min(memoryBytesMax, Math.floor(machineMemory() * memoryShareMax))
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1)
}
