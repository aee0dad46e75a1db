import type { Charge, ChargeResult } from '../usage.js'
import type { ConnectionOptions } from './connection-settings.js'
import { isRepeatable } from './postgres-failures.js'
import { PostgresPool } from './postgres-pool.js'

const statement = {
  name: 'charge_rows',
  text: `SELECT granted, charged AS period, dataset_used AS "datasetUsed",
      global_used AS "globalUsed"
    FROM charge_rows($1, $2, $3, $4, $5, $6, $7) WITH ORDINALITY ORDER BY ordinality`,
}

const sizeDefault = 4

/** A repair of the usage can meet charges in another order; nothing is charged then. */
const repeatsMax = 3

/**
 * Charges in a PostgreSQL, on connections of their own. A batch is one statement and one
 * transaction, which is durable when it is answered.
 */
export class PostgresCharges {
  readonly #pool: PostgresPool

  /** @throws Error, for the operator, when this is not the URL of a PostgreSQL */
  constructor(url: string, options: ConnectionOptions = {}) {
    this.#pool = new PostgresPool(url, { size: sizeDefault, ...options })
  }

  /**
   * Charges a batch; the results are in its order. The sum of granted rows never exceeds a cap,
   * however many servers charge.
   *
   * @throws service_unavailable; then nothing is charged, or, when only the answer was lost, rows
   *   that are never sent
   */
  async chargeAll(charges: readonly Charge[]): Promise<ChargeResult[]> {
    if (charges.length === 0) return []
    for (let repeats = 0; ; repeats++) {
      try {
        return await this.#charge(charges)
      } catch (cause) {
        if (repeats === repeatsMax || !isRepeatable(cause)) throw cause
      }
    }
  }

  /** A charge is durable when `chargeAll` has resolved. */
  synced(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  async #charge(charges: readonly Charge[]): Promise<ChargeResult[]> {
    const values = [
      charges.map(({ subscriptionId }) => subscriptionId),
      charges.map(({ dataset }) => dataset),
      charges.map(({ period }) => period),
      charges.map(({ rows }) => rows),
      charges.map(({ allOrNone }) => allOrNone ?? false),
      charges.map(({ datasetRowsMax }) => datasetRowsMax),
      charges.map(({ globalRowsMax }) => globalRowsMax),
    ]
    const { rows } = await this.#pool.connected((connection) =>
      connection.query({ ...statement, values }),
    )
    return rows as ChargeResult[]
  }
}
