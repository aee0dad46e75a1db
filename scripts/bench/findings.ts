import type { LoadResult, MemoryResult } from './load.js'
import type { Overhead } from './overhead.js'
import type { WorkloadResult } from './rounds.js'
import type { WalkResult } from './walk.js'

/** What was measured, and on what; times in milliseconds, sizes in bytes. */
export interface Findings {
  readonly machine: {
    readonly cpu: string
    readonly cores: number
    readonly memoryBytes: number
    readonly node: string
    readonly duckdb: string
  }
  readonly data: {
    readonly rows: number
    readonly columns: number
    readonly yearly: { readonly files: number; readonly sizeBytes: number }
    readonly packed: { readonly files: number; readonly sizeBytes: number }
  }
  /** Of the peers' packages, or `absent`. */
  readonly peers: Readonly<Record<string, string>>
  readonly contestants: readonly string[]
  readonly workloads: readonly WorkloadResult[]
  readonly walks: readonly WalkResult[]
  readonly loads: readonly LoadResult[]
  readonly overhead: Overhead | null
  readonly startMs: number
  readonly memory: MemoryResult | null
  readonly memoryLimitBytes: number
}

/** The wrong answers, ours first. */
export function faultsOf(findings: Findings): readonly string[] {
  const faults = [
    ...findings.workloads.flatMap(({ name, timed }) =>
      timed.map(({ contestant, fault }) => ({ contestant, fault, name })),
    ),
    ...findings.walks.map(({ contestant, fault }) => ({ contestant, fault, name: 'W6' })),
    ...findings.walks.map(({ contestant, duplicated, missing }) => ({
      contestant,
      fault: duplicated + missing > 0 ? `${duplicated} rows duplicated, ${missing} missing` : null,
      name: 'W6',
    })),
    ...findings.loads.map(({ contestant, failed, failure }) => ({
      contestant,
      fault: failed > 0 ? `${failed} failed: ${failure}` : null,
      name: 'W7',
    })),
    ...(findings.memory && findings.memory.load.failed > 0
      ? [{ contestant: 'das', fault: `${findings.memory.load.failed} failed`, name: 'mixed load' }]
      : []),
  ]
  return faults
    .flatMap(({ contestant, fault, name }) =>
      fault === null ? [] : [`${contestant}, ${name}: ${fault}`],
    )
    .sort((left, right) => Number(isOurs(right)) - Number(isOurs(left)))
}

/** True of a fault that makes the run fail. */
export function isOurs(fault: string): boolean {
  return fault.startsWith('das ')
}
