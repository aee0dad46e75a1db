import { addMonths } from '../control/subscriptions.js'

const yearMonths = 12
const yearMonthsPaid = 10

/**
 * The price of dearer plans for the time that is left of a subscription, in whole roubles, rounded
 * down, at least 1: the difference of the prices of a month, for the months from `now` to
 * `expiresAt`. A month that is not whole counts by its share; of a year, 10 months count. Cheaper
 * plans cost nothing.
 */
export function changePriceRub({
  monthRub,
  now,
  expiresAt,
}: {
  /** The prices of a month, in whole roubles. */
  readonly monthRub: { readonly before: number; readonly after: number }
  /** Ms since the epoch, like `expiresAt`. */
  readonly now: number
  readonly expiresAt: number
}): number {
  const difference = monthRub.after - monthRub.before
  if (difference <= 0 || expiresAt <= now) return 0
  const whole = wholeMonths(now, expiresAt)
  const start = addMonths(now, whole)
  const monthMs = addMonths(now, whole + 1) - start
  const years = Math.floor(whole / yearMonths)
  const ofYearMs = (whole % yearMonths) * monthMs + (expiresAt - start)
  const paidMs = years * yearMonthsPaid * monthMs + Math.min(ofYearMs, yearMonthsPaid * monthMs)
  // The product is beyond 2^53: a price times milliseconds.
  // Never 0: an order without a price takes effect unpaid, with all rows of the running month.
  return Math.max(1, Number((BigInt(difference) * BigInt(paidMs)) / BigInt(monthMs)))
}

/** The most calendar months after `from` that do not pass `to`. */
function wholeMonths(from: number, to: number): number {
  let months = 0
  while (addMonths(from, months + 1) <= to) months += 1
  return months
}
