import { addMonths } from '../../control/subscriptions.js'
import { yearMonths, yearMonthsPaid } from '../../registry/price.js'

/** Dataset → what a month of its plan costs, in whole roubles. */
export type MonthPrices = ReadonlyMap<string, number>

/**
 * The price of dearer plans for the time that is left of a subscription, in whole roubles, rounded
 * down: what they cost more a month, for the months from `now` to `expiresAt`. A month that is not
 * whole counts by its share; of a year, 10 months count. It is at least what they cost more for one
 * month, because all rows of the running month can be read at once. Cheaper plans cost nothing and
 * give nothing back, also not for a dearer plan of another dataset: each has a quota of its own.
 */
export function changePriceRub({
  before,
  after,
  now,
  expiresAt,
}: {
  readonly before: MonthPrices
  readonly after: MonthPrices
  /** Ms since the epoch, like `expiresAt`. */
  readonly now: number
  readonly expiresAt: number
}): number {
  const moreRub = [...after].reduce(
    (sum, [dataset, rub]) => sum + Math.max(0, rub - (before.get(dataset) ?? 0)),
    0,
  )
  if (moreRub === 0 || expiresAt <= now) return 0
  const whole = wholeMonths(now, expiresAt)
  const start = addMonths(now, whole)
  const monthMs = addMonths(now, whole + 1) - start
  const years = Math.floor(whole / yearMonths)
  const ofYearMs = (whole % yearMonths) * monthMs + (expiresAt - start)
  const paidMs = years * yearMonthsPaid * monthMs + Math.min(ofYearMs, yearMonthsPaid * monthMs)
  // The product is beyond 2^53: a price times milliseconds.
  return Math.max(moreRub, Number((BigInt(moreRub) * BigInt(paidMs)) / BigInt(monthMs)))
}

/** The most calendar months after `from` that do not pass `to`. */
function wholeMonths(from: number, to: number): number {
  let months = 0
  while (addMonths(from, months + 1) <= to) months += 1
  return months
}
