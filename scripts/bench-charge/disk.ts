import { open } from 'node:fs/promises'
import { fsyncSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ControlStore } from '../../src/control/store/store.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import { chargeAll, periodOf } from '../../src/control/usage.js'
import { median } from '../harness/statistics.js'

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

/** What durability costs on the disk of this folder, with nothing else going on. */
export async function measureDisk(folder: string, batch: number): Promise<DiskTimes> {
  const control = ControlStore.open(join(folder, 'disk.db'))
  const { subscriptionId } = createSubscription(control, {
    email: 'disk@example.org',
    grants: [{ dataset: 'financials', plan: 'bench' }],
    months: 1,
    globalRows: null,
    priceRub: 0,
    language: 'en',
    now: Date.now,
  })
  const charge = {
    subscriptionId,
    dataset: 'financials',
    period: periodOf(Date.now()),
    rows: 1,
    datasetRowsMax: 1e9,
    globalRowsMax: null,
  }
  const many = Array.from({ length: batch }, () => charge)
  try {
    return {
      fsyncMs: await measureFsync(join(folder, 'fsync')),
      transactionMs: medianOf(() => chargeAll(control, [charge])),
      batchMs: medianOf(() => chargeAll(control, many)),
    }
  } finally {
    control.close()
  }
}

async function measureFsync(path: string): Promise<number> {
  await using file = await open(path, 'wx')
  const page = Buffer.alloc(4096, 1)
  return medianOf(() => {
    writeSync(file.fd, page)
    fsyncSync(file.fd)
  })
}

function medianOf(work: () => unknown): number {
  return median(
    Array.from({ length: runs }, () => {
      const startedAt = performance.now()
      work()
      return performance.now() - startedAt
    }),
  )
}
