/** Rows that answers of one event delivered, or may have cost without being delivered. */
export class Ledger {
  readonly #delivered = new Map<string, number>()
  readonly #atRisk = new Map<string, number>()
  rowsDelivered = 0
  rowsLost = 0

  /** Called before a request that may cost at most this many rows. */
  risk(subscription: string, dataset: string, rows: number): void {
    add(this.#atRisk, `${subscription} ${dataset}`, rows)
  }

  /** Called for the rows of an answer; nothing of the request is at risk any more. */
  deliver(subscription: string, dataset: string, rows: number, risked: number): void {
    add(this.#delivered, `${subscription} ${dataset}`, rows)
    add(this.#atRisk, `${subscription} ${dataset}`, -risked)
    this.rowsDelivered += rows
  }

  /** Ends an event: what was delivered and is at risk of each subscription and dataset. */
  close(): (key: string) => { readonly delivered: number; readonly atRisk: number } {
    const [delivered, atRisk] = [new Map(this.#delivered), new Map(this.#atRisk)]
    this.#delivered.clear()
    this.#atRisk.clear()
    return (key) => ({ delivered: delivered.get(key) ?? 0, atRisk: atRisk.get(key) ?? 0 })
  }
}

function add(map: Map<string, number>, key: string, rows: number): void {
  map.set(key, (map.get(key) ?? 0) + rows)
}
