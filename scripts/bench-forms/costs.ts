import type { Timing } from './rounds.js'
import { workParts, workWith } from './work.js'
import type { Work } from './work.js'

const steps = 60_000

/**
 * What one of each part of `Work` costs, in microseconds of CPU: the costs that predict the CPU times of Parquet forms best, by the relative error. None is
 * negative: least squares by coordinates.
 */
export function fitCosts(timings: readonly Timing[]): Work {
  const rows = timings.map(({ work, cpuMs }) =>
    workParts.map((part) => work[part] / (cpuMs * 1000)),
  )
  const costs = workParts.map(() => 0)
  const errors = rows.map(() => -1)
  for (let step = 0; step < steps; step += 1) {
    const part = step % workParts.length
    const values = rows.map((row) => row[part] ?? 0)
    const slope = values.reduce((sum, value, at) => sum + value * (errors[at] ?? 0), 0)
    const square = values.reduce((sum, value) => sum + value * value, 0)
    const before = costs[part] ?? 0
    const after = square === 0 ? 0 : Math.max(0, before - slope / square)
    costs[part] = after
    values.forEach((value, at) => {
      errors[at] = (errors[at] ?? 0) + value * (after - before)
    })
  }
  return workWith((part) => costs[workParts.indexOf(part)] ?? 0)
}

/** The predicted CPU time in milliseconds. */
export function predictMs(costs: Work, work: Work): number {
  return workParts.reduce((sum, part) => sum + costs[part] * work[part], 0) / 1000
}
