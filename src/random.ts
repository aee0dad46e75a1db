import { randomBytes, randomInt, randomUUID } from 'node:crypto'

/** Random numbers. A part given at the root, so that a run can be repeated. */
export interface Random {
  readonly bytes: (count: number) => Buffer
  /** A whole number from 0 on, less than `limit`; each is as likely. */
  readonly below: (limit: number) => number
  readonly uuid: () => string
}

/** The random numbers of this machine, fit for secrets. */
export const machineRandom: Random = Object.freeze({
  bytes: (count: number) => randomBytes(count),
  below: (limit: number) => randomInt(limit),
  uuid: () => randomUUID(),
})
