/** The value below which this share of the values lies, by the nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The sum of the values; 0 where there are none. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0)
}

/**
 * The two-sided p-value of the Mann-Whitney U test: how probable so large a difference of ranks is
 * if both samples have one distribution. By the normal approximation with the correction for ties,
 * for samples of 20 and more.
 */
export function mannWhitneyP(first: readonly number[], second: readonly number[]): number {
  const all = [...first.map((value) => [value, 1]), ...second.map((value) => [value, 0])] as const
  const sorted = [...all].sort(([a = 0], [b = 0]) => a - b)
  const total = sorted.length
  let [rankSum, ties] = [0, 0]
  for (let start = 0, end = 0; start < total; start = end) {
    let ofFirst = 0
    for (; end < total && sorted[end]?.[0] === sorted[start]?.[0]; end++) {
      ofFirst += sorted[end]?.[1] ?? 0
    }
    const count = end - start
    rankSum += (ofFirst * (start + 1 + end)) / 2
    ties += count ** 3 - count
  }
  const pairs = first.length * second.length
  const u = rankSum - (first.length * (first.length + 1)) / 2
  const variance = (pairs / 12) * (total + 1 - ties / (total * (total - 1)))
  return variance === 0 ? 1 : twoSidedP(Math.abs(u - pairs / 2) / Math.sqrt(variance))
}

/** The share of the normal distribution beyond ±z, by 7.1.26 of Abramowitz and Stegun. */
function twoSidedP(z: number): number {
  const x = z / Math.SQRT2
  const t = 1 / (1 + 0.3275911 * x)
  const factors = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]
  return factors.reduce((value, factor) => value * t + factor, 0) * t * Math.exp(-x * x)
}
