import { FormRefusal } from './form-refusal.js'
import type { RefusalText } from './form-refusal.js'

/** Why no code is mailed, or a typed one not accepted. */
const refusals = {
  email: ['bad_request', 'Give one plain e-mail address.'],
  code: ['bad_request', 'The code is wrong, was used or is no longer accepted. Ask for a new one.'],
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
