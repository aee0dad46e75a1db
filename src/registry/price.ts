import type { Plan } from './registry.js'

const yearMonths = 12
const yearMonthsPaid = 10

/**
 * What plans held together cost for `months`, in whole roubles: every full year is 12 months at the
 * price of 10 (specification, section 8), what is over a year is paid by the month.
 */
export function priceRub(plans: readonly Pick<Plan, 'priceRub'>[], months: number): number {
  const monthly = plans.reduce((sum, plan) => sum + plan.priceRub, 0)
  const years = Math.floor(months / yearMonths)
  return monthly * (months - years * (yearMonths - yearMonthsPaid))
}
