import { readFileSync, readdirSync } from 'node:fs'
import { setPriority, totalmem } from 'node:os'

/** The limit of open files and sockets of this process: in force, and the most it may ask for. */
export interface OpenFilesLimit {
  readonly soft: number
  /** Null = unlimited. */
  readonly hard: number | null
}

/** Null where the system does not say, or there is no limit. */
export function openFilesLimit(): OpenFilesLimit | null {
  const [, soft, hard] = /^Max open files +(\S+) +(\S+)/m.exec(processLimits()) ?? []
  if (soft === undefined || soft === 'unlimited') return null
  return { soft: Number(soft), hard: hard === 'unlimited' ? null : Number(hard) }
}

function processLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/** Bytes of memory that this process can use: the cgroup's limit, else the machine's memory. */
export function machineMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}

const memoryShare = 0.6

/** Bytes of memory for the engine when no limit is set. */
export function defaultMemory(): number {
  return Math.floor(machineMemory() * memoryShare)
}

/**
 * The threads of this process, where each has a priority of its own, which the threads that it
 * starts inherit; none elsewhere.
 */
export function threadIds(): readonly number[] {
  if (process.platform !== 'linux') return []
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return []
  }
}

/** Gives threads or processes a priority; returns how many have it: a system may refuse. */
export function givePriority(ids: readonly number[], priority: number): number {
  const given = ids.filter((id) => {
    try {
      setPriority(id, priority)
      return true
    } catch {
      return false
    }
  })
  return given.length
}
