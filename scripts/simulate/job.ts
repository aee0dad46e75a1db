import type { StepKind } from './machine/machine.js'
import type { Mutation } from './mutations.js'
import type { EventKind, PlannedEvent } from './plan.js'

/** One run: of a seed's plan, or of another. */
export interface PlannedRun {
  readonly seed: number
  readonly plan: readonly PlannedEvent[] | null
  /** A planted fault. */
  readonly mutation: Mutation | null
}

/** What a process of the simulation does: runs, one after another. */
export interface Job {
  readonly runs: readonly PlannedRun[]
  readonly days: number
  /** Each plan runs twice and must print the same lines. */
  readonly isTwice: boolean
  /** A failing plan is made smaller. */
  readonly shrinks: boolean
  /** Lines are reported while they happen. */
  readonly isShown: boolean
}

/** What such a process prints, one JSON a line. */
export type Report =
  { readonly kind: 'line'; readonly line: string } | ({ readonly kind: 'seed' } & SeedReport)

/** The end of one seed. */
export interface SeedReport {
  readonly seed: number
  readonly broken: string | null
  /** Of a broken promise: the smallest plan that breaks it, and its lines. */
  readonly shrunk: readonly PlannedEvent[] | null
  readonly lines: readonly string[]
  readonly events: Readonly<Partial<Record<EventKind, number>>>
  readonly kills: Readonly<Partial<Record<StepKind, number>>>
  readonly checks: number
  readonly rowsDelivered: number
  readonly rowsLost: number
}
