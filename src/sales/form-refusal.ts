import { ServiceError } from '../errors.js'
import type { ErrorCode } from '../errors.js'

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

/** Why no code is mailed, or a typed one not accepted. */
const refusals = {
  email: ['bad_request', 'Give one plain e-mail address.'],
  code: ['bad_request', 'The code is wrong, was used or is no longer accepted. Ask for a new one.'],
  used: ['bad_request', 'The code was used, and what it was for is done.'],
  'too-many-codes': ['rate_limit_exceeded', 'Too many codes were asked for. Try again in an hour.'],
} as const satisfies Readonly<Record<string, RefusalText>>

export type CodeRefusalReason = keyof typeof refusals

/** A visitor's mistake with an address or a code, or a limit of codes. */
export class CodeRefusal extends FormRefusal<CodeRefusalReason> {
  constructor(reason: CodeRefusalReason) {
    super(reason, refusals[reason])
    this.name = 'CodeRefusal'
  }
}
