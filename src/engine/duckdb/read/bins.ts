const binCount = 12
const dayMs = 86_400_000
const secondMs = 1000
/** From this ratio of a range to its smallest size on, equal bins would put most rows into one. */
const wideRatio = 1000

/** The edges of a histogram's bins, ascending; the first is the minimum, the last the maximum. */
export type Edges = readonly number[]

/**
 * Bins between two numbers: of equal width, or growing with the distance from zero if the numbers
 * differ by orders of magnitude. Edges inside are short numbers; of whole numbers, whole ones. Null
 * if there is no range.
 */
export function numberEdges(min: number, max: number, isWhole: boolean): Edges | null {
  const nearest = min > 0 || max < 0 ? Math.min(Math.abs(min), Math.abs(max)) : 1
  const isWide = max - min >= wideRatio * Math.max(nearest, 1)
  return isWide
    ? edgesBetween(min, max, isWhole ? 1 : 0, Math.asinh, Math.sinh)
    : edgesBetween(min, max, isWhole ? 1 : 0)
}

/** Bins of equal width between two moments in milliseconds; edges inside are days or seconds. */
export function momentEdges(min: number, max: number, isDay: boolean): Edges | null {
  return edgesBetween(min, max, isDay ? dayMs : secondMs)
}

function edgesBetween(
  min: number,
  max: number,
  stepMin: number,
  scale = (value: number) => value,
  unscale = scale,
): Edges | null {
  const [first, last] = [scale(min), scale(max)]
  if (!(min < max) || !Number.isFinite(last - first) || !Number.isFinite(max - min)) return null
  const at = (index: number) => unscale(first + ((last - first) * index) / binCount)
  const inside = Array.from({ length: binCount - 1 }, (_, index) =>
    shortNumber(at(index + 1), at(index + 2) - at(index + 1), stepMin),
  )
  const distinct = [...new Set(inside)].filter((edge) => edge > min && edge < max)
  return [min, ...distinct, max]
}

/** Rounds to a tenth of the width, or to whole steps. */
function shortNumber(value: number, width: number, stepMin: number): number {
  if (stepMin > 1) return Math.round(value / stepMin) * stepMin
  const step = Math.max(10 ** (Math.floor(Math.log10(width)) - 1), stepMin)
  const rounded = Math.round(value / step) * step
  // The product of a step such as 0.1 has digits that are not meant; a large number needs them all.
  return Math.abs(value) / step < 1e12 ? Number(rounded.toPrecision(12)) : rounded
}
