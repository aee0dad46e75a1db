import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a running process takes, where the system reports it in /proc. */
export interface Vitals {
  readonly memoryBytes: number
  readonly openFiles: number
  /** Folders and files that the system watches for it. */
  readonly watches: number
}

/** Ticks of /proc/PID/stat: fixed on Linux. */
const ticksPerSecond = 100
const windowMs = 2000
/** Of one core. */
const quietShare = 0.1

/** The CPU time of a process so far, in seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name before it may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

export function vitalsOf(pid: number): Vitals {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const descriptors = readdirSync(`/proc/${pid}/fdinfo`)
  const watches = descriptors.flatMap((name) => infoOf(pid, name).match(/^inotify wd:/gm) ?? [])
  return {
    memoryBytes: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024,
    openFiles: descriptors.length,
    watches: watches.length,
  }
}

/** Waits until a process is quiet; the seconds until then, null if it is not within so many. */
export async function untilQuiet(pid: number, secondsMax: number): Promise<number | null> {
  const startedMs = performance.now()
  while (performance.now() - startedMs < secondsMax * 1000) {
    if ((await loadOf(pid, windowMs)) < quietShare) {
      return Math.max(0, performance.now() - startedMs - windowMs) / 1000
    }
  }
  return null
}

/** The share of a core that a process takes during this time. */
export async function loadOf(pid: number, ms: number): Promise<number> {
  const [before, startedMs] = [cpuSeconds(pid), performance.now()]
  await sleep(ms)
  return (cpuSeconds(pid) - before) / ((performance.now() - startedMs) / 1000)
}

function infoOf(pid: number, descriptor: string): string {
  try {
    return readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8')
  } catch {
    return ''
  }
}
