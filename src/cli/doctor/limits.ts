import type { ServerReport } from '../../control/server-report.js'
import { sizeText } from '../print.js'
import { fail, ok, warn } from './finding.js'
import type { Finding } from './finding.js'

const check = 'limits'
/** What docs/operating.md asks for. */
const openFilesGood = 65_536
/** With fewer, the server keeps less than 256 of them for files. */
const openFilesMin = 512
/** What the process takes beside the engine: docs/operating.md, "Memory". */
const processBytes = 300e6

/** The limits of a process that serves or would serve. */
export type Limits = Pick<ServerReport, 'openFiles' | 'memoryLimitBytes' | 'machineBytes'>

/** Whether there are enough descriptors, and whether the engine fits in the memory. */
export function limitFindings(limits: Limits, whose: string): readonly Finding[] {
  return [openFilesFinding(limits, whose), memoryFinding(limits, whose)]
}

function openFilesFinding({ openFiles }: Limits, whose: string): Finding {
  if (openFiles === null) return ok(check, `open files of ${whose}: unlimited or unknown`)
  const { soft, hard } = openFiles
  const what = `open files of ${whose}: ${soft}, at most ${hard ?? 'unlimited'}`
  if (soft >= openFilesGood) return ok(check, what)
  const advice = '`LimitNOFILE=65536` in the systemd unit, `ulimit -n 65536` in a shell'
  return soft < openFilesMin ? fail(check, what, advice) : warn(check, what, advice)
}

function memoryFinding({ memoryLimitBytes, machineBytes }: Limits, whose: string): Finding {
  const what =
    `memory of ${whose}: ${sizeText(memoryLimitBytes)} for the engine, of ` +
    `${sizeText(machineBytes)} that it may use`
  const advice = 'lower --memory-limit (DAS_MEMORY_LIMIT) or give the service more'
  if (memoryLimitBytes >= machineBytes) return fail(check, what, advice)
  if (memoryLimitBytes + processBytes > machineBytes) {
    return warn(check, `${what}; the process needs ${sizeText(processBytes)} more`, advice)
  }
  return ok(check, what)
}
