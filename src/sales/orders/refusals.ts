import { CodeRefusal, FormRefusal } from '../form-refusal.js'
import type { CodeRefusalReason, RefusalText } from '../form-refusal.js'

/** Why the shop refuses. */
const refusals = {
  closed: ['not_found', 'Nothing can be ordered here.'],
  choice: ['bad_request', 'Choose a plan that is on offer, one for each dataset.'],
  months: ['bad_request', 'Choose 1 to 120 months, and at most 120 ahead.'],
  early: ['bad_request', 'A free subscription is renewed in the last month of its term.'],
  price: ['bad_request', 'A price has changed since. Order again.'],
  company: [
    'bad_request',
    'A company has a name, an INN with right check digits, and a right KPP.',
  ],
  'free-taken': [
    'bad_request',
    'This address has a free subscription to this dataset, or an order of one that waits.',
  ],
  'too-many-orders': [
    'rate_limit_exceeded',
    'This address has too many orders. Pay the ones that wait, or try again tomorrow.',
  ],
  'no-change': ['bad_request', 'The subscription has these plans already.'],
  scheduled: [
    'bad_request',
    'The months after the next change of this plan are paid. Order again when it has taken effect.',
  ],
  over: ['bad_request', 'The subscription is over. Renew it, or order a new one.'],
  unknown: ['not_found', 'This address has no such subscription.'],
} as const satisfies Readonly<Record<string, RefusalText>>

type ShopRefusalReason = keyof typeof refusals

/** Pages have a text for each in both languages. */
export type RefusalReason = CodeRefusalReason | ShopRefusalReason

/** A visitor's mistake, or a limit of the shop. */
export class ShopRefusal extends FormRefusal<ShopRefusalReason> {
  constructor(reason: ShopRefusalReason) {
    super(reason, refusals[reason])
    this.name = 'ShopRefusal'
  }
}

export type Refusal = ShopRefusal | CodeRefusal

/** Whether a visitor is to be shown why their form was refused. */
export function isRefusal(cause: unknown): cause is Refusal {
  return cause instanceof ShopRefusal || cause instanceof CodeRefusal
}
