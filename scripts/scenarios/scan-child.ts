/** The clients that scan, in a process of their own, so that their work delays no look-up's clock. */
import { serveOrders } from '../harness/worker.js'
import { startScanners } from './scanners.js'
import type { ScanOrder, Scanners, ScanReport } from './scanners.js'

const none: ScanReport = { ends: {}, again: { asked: 0, answered: 0 } }
let scanners: Scanners | null = null

async function answer(order: ScanOrder): Promise<ScanReport> {
  if (order.kind === 'start') {
    scanners = startScanners(order.options)
    return none
  }
  if (scanners === null) throw new Error('no scan was started')
  scanners.stop()
  await scanners.done
  const { ends, again } = scanners
  return { ends, again }
}

serveOrders(answer, () => Promise.resolve())
