import { ServiceError } from '../../errors.js'
import type { ErrorCode } from '../../errors.js'

const hourSeconds = 3600

/** A reason in the words of an error. */
export type RefusalText = readonly [ErrorCode, string]

/** A visitor's mistake in a form, or a limit; pages have a text of their own for each reason. */
export class FormRefusal<Reason extends string> extends ServiceError {
  readonly reason: Reason

  constructor(reason: Reason, [code, detail]: RefusalText) {
    super(code, detail, {
      ...(code === 'rate_limit_exceeded' && { retryAfterSeconds: hourSeconds }),
    })
    this.reason = reason
  }
}
