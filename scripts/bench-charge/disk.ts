import { fsyncSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { chargeAll, periodOf } from '../../src/control/usage.js'
import { median } from '../harness/statistics.js'
import { grant, sellBenchPlan } from './sell.js'
import { machine } from '../../test/support/machine.js'

/** Medians, in milliseconds. */
export interface DiskTimes {
  /** 4 KiB appended to a file and synced. */
  readonly fsyncMs: number
  /** A durable transaction with a single charge. */
  readonly transactionMs: number
  /** A durable transaction with as many charges as there are clients. */
  readonly batchMs: number
}

const runs = 300

/** Measures what durability costs on the disk of this folder, with nothing else going on. */
export async function measureDisk(folder: string, batch: number): Promise<DiskTimes> {
  const control = SqliteStore.open(join(folder, 'disk.db'), machine)
  const charge = {
    subscriptionId: (await sellBenchPlan(control)).subscriptionId,
    dataset: grant.dataset,
    period: periodOf(Date.now()),
    rows: 1,
    datasetRowsMax: 1e9,
    globalRowsMax: null,
  }
  const many = Array.from({ length: batch }, () => charge)
  try {
    return {
      fsyncMs: await measureFsync(join(folder, 'fsync')),
      transactionMs: await medianOf(() => chargeAll(control, [charge])),
      batchMs: await medianOf(() => chargeAll(control, many)),
    }
  } finally {
    await control.close()
  }
}

async function measureFsync(path: string): Promise<number> {
  await using file = await open(path, 'wx')
  const page = Buffer.alloc(4096, 1)
  return await medianOf(async () => {
    writeSync(file.fd, page)
    fsyncSync(file.fd)
  })
}

async function medianOf(work: () => Promise<unknown>): Promise<number> {
  const times = await Promise.all(
    Array.from({ length: runs }, async () => {
      const startedMs = performance.now()
      await work()
      return performance.now() - startedMs
    }),
  )
  return median(times)
}
