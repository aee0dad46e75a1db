/** What one of several servers does for all of them. */
type JobName = 'letters' | 'orders' | 'connections' | 'packing'

/** Decides which of several servers does a job. */
export interface Jobs {
  /**
   * Whether this server does the job now. It does it until it releases it, or dies.
   * @throws service_unavailable when the other servers can't be asked
   */
  readonly tryTake: (job: JobName) => Promise<boolean>
  /** Lets another server do the job. */
  readonly release: (job: JobName) => Promise<void>
}

/** The jobs of the only server: it does all of them. */
export const allJobs: Jobs = {
  tryTake: async () => true,
  release: async () => {},
}
