import { dayMs } from '../../clock.js'
import { addMonths } from '../../control/subscriptions.js'
import { yearMonths, yearMonthsPaid } from '../../registry/price.js'

/** Dataset → what a month of its plan costs, in whole roubles. */
export type MonthPrices = ReadonlyMap<string, number>

/** When a change of plans takes effect, and for how much. */
export interface ChangeTerms {
  /** Datasets that get cheaper or are removed: they stay until the end of the term. */
  readonly later: ReadonlySet<string>
  /** The price of what gets dearer at once, in whole roubles. */
  readonly amountRub: number
  /** 1 = the term moves to one month from the confirmation; null = its end stays. */
  readonly months: 1 | null
}

/**
 * The terms of a change from the plans `before` to those `after`. What gets dearer costs its
 * monthly difference for every begun month from `now` to `expiresAt`; of each twelve at most ten
 * count. Where less than a month is left, it costs a month of all plans less the unused share of
 * the old ones: their days left of the days of the month from now. A begun day is unused, and the
 * price is rounded down to the rouble. What gets cheaper pays for nothing: each dataset has a quota
 * of its own. The plans of a subscription that is over change at once; its renewal is paid whole.
 */
export function termsOfChange({
  before,
  after,
  now,
  expiresAt,
  anchorDay,
}: {
  readonly before: MonthPrices
  /** Without the datasets that are removed. */
  readonly after: MonthPrices
  /** Ms since the epoch, like `expiresAt`. */
  readonly now: number
  readonly expiresAt: number
  /** The day on which the subscription's months end, in months that have it. */
  readonly anchorDay: number
}): ChangeTerms {
  if (expiresAt <= now) return { later: new Set(), amountRub: 0, months: null }
  const cheaper = [...before].filter(([dataset, rub]) => (after.get(dataset) ?? 0) < rub)
  const later = new Set(cheaper.map(([dataset]) => dataset))
  const moreRub = [...after].reduce(
    (sum, [dataset, rub]) => sum + Math.max(0, rub - (before.get(dataset) ?? 0)),
    0,
  )
  const monthEnd = addMonths(now, 1)
  if (moreRub === 0 || monthEnd <= expiresAt) {
    const left = begunMonths(now, expiresAt, anchorDay)
    return { later, amountRub: moreRub * paidMonths(left), months: null }
  }
  const oldRub = [...before.values()].reduce((sum, rub) => sum + rub, 0)
  const days = (monthEnd - now) / dayMs
  const usedDays = days - Math.ceil((expiresAt - now) / dayMs)
  return { later, amountRub: moreRub + Math.floor((oldRub * usedDays) / days), months: 1 }
}

function paidMonths(months: number): number {
  const ofYear = Math.min(months % yearMonths, yearMonthsPaid)
  return Math.floor(months / yearMonths) * yearMonthsPaid + ofYear
}

/**
 * The fewest months from `from` that reach `to`: by the calendar, or as the subscription's own
 * months end. 28 February to 31 March is one that was sold as one.
 */
function begunMonths(from: number, to: number, anchorDay: number): number {
  let months = 1
  while (addMonths(from, months) < to && addMonths(to, -months, anchorDay) > from) months += 1
  return months
}
