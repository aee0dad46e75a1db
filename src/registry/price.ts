import type { Plan } from './registry.js'

export const yearMonths = 12
/** Of a full year. */
export const yearMonthsPaid = 10

/**
 * The price of plans for `months`, in whole roubles: a full year costs as much as 10 months, the
 * rest is paid by the month.
 */
export function priceRub(plans: readonly Pick<Plan, 'priceRub'>[], months: number): number {
  const monthly = plans.reduce((sum, plan) => sum + plan.priceRub, 0)
  const years = Math.floor(months / yearMonths)
  return monthly * (months - years * (yearMonths - yearMonthsPaid))
}
