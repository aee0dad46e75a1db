/**
 * The VAT that a price includes, in kopecks: amount × rate ÷ (100 + rate), rounded half up.
 * `amountRub` is in whole roubles, `percent` from 0 to 30.
 */
export function vatKopecks(amountRub: number, percent: number): bigint {
  const share = BigInt(amountRub) * 100n * BigInt(percent)
  const whole = BigInt(100 + percent)
  return (2n * share + whole) / (2n * whole)
}
