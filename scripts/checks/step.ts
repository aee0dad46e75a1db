/** One command of a list of checks. */
export interface Step {
  /** As `--only` names it, and the page on checks. */
  readonly name: string
  /** What `sh` runs in the root of the repository. */
  readonly line: string
  /** How long it takes on two cores that do nothing else. */
  readonly seconds: number
  /** Steps that must pass before; it does not run where one of them fails. */
  readonly after?: readonly string[]
  /** Steps with the same turn write the same files, so they run one after the other. */
  readonly turn?: 'tests'
}

/** Steps that are run together. */
export interface StepList {
  readonly name: 'must' | 'night'
  readonly steps: readonly Step[]
  /** How many run side by side. */
  readonly atOnce: number
}

/** How a step ended. */
export interface Outcome {
  readonly step: Step
  readonly result: 'passed' | 'failed' | 'not run'
  readonly seconds: number
  /** Why it failed or did not run; what a step that passed printed last. */
  readonly note: string
}
