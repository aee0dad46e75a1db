/** Requests of one client in its running minute. */
export interface RateWindow {
  /** Includes refused requests. */
  readonly requests: number
  /** Whole milliseconds until the minute ends. */
  readonly endsInMs: number
}

/** Counts requests by client; a client's minute begins with its first request. */
export interface RateWindows {
  /**
   * Adds requests, or none, to the running minute of a client.
   * @throws service_unavailable when requests can't be counted
   */
  readonly add: (client: string, requests: 0 | 1) => Promise<RateWindow>
}

export const rateWindowMs = 60_000
