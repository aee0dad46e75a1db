const binCount = 12
const dayMs = 86_400_000
const secondMs = 1000
/** From this ratio of a range to its smallest size on, equal bins would put most rows into one. */
const wideRatio = 1000
/** Around zero, bins have equal width up to this part of the largest size. */
const nearZero = 1e-5

/** The edges of a histogram's bins, ascending; the first is the minimum, the last the maximum. */
export type Edges = readonly number[]

/** Positions on an axis, and their values. */
interface Axis {
  readonly at: (value: number) => number
  readonly value: (position: number) => number
}

const evenAxis: Axis = { at: (value) => value, value: (position) => position }

/**
 * Bins between two numbers: of equal width, or growing with the distance from zero if the numbers
 * differ by orders of magnitude. Edges inside are short numbers; of whole numbers, whole ones. Null
 * if there is no range.
 */
export function numberEdges(min: number, max: number, isWhole: boolean): Edges | null {
  const isOneSided = min > 0 || max < 0
  const [small = 0, large = 0] = [Math.abs(min), Math.abs(max)].sort((a, b) => a - b)
  const isWide = max - min >= wideRatio * (isOneSided ? small : 1)
  const axis = isWide ? growingAxis(isOneSided ? small : large * nearZero) : evenAxis
  return edgesBetween(min, max, isWhole ? 1 : 0, axis)
}

/** Even up to `unit`, then by orders of magnitude. */
function growingAxis(unit: number): Axis {
  return {
    at: (value) => Math.asinh(value / unit),
    value: (position) => Math.sinh(position) * unit,
  }
}

/** Bins of equal width between two moments in milliseconds; edges inside are days or seconds. */
export function momentEdges(min: number, max: number, isDay: boolean): Edges | null {
  return edgesBetween(min, max, isDay ? dayMs : secondMs, evenAxis)
}

function edgesBetween(min: number, max: number, stepMin: number, axis: Axis): Edges | null {
  const [first, last] = [axis.at(min), axis.at(max)]
  if (!(min < max) || !Number.isFinite(last - first) || !Number.isFinite(max - min)) return null
  const at = (index: number) => axis.value(first + ((last - first) * index) / binCount)
  const edges = [min]
  for (let index = 1; index < binCount; index++) {
    const width = Math.min(at(index) - at(index - 1), at(index + 1) - at(index))
    const edge = shortNumber(at(index), width, stepMin)
    if (edge > (edges.at(-1) ?? min) && edge < max) edges.push(edge)
  }
  return [...edges, max]
}

/** Rounds to a tenth of the width, or to whole steps. */
function shortNumber(value: number, width: number, stepMin: number): number {
  if (stepMin > 1) return Math.round(value / stepMin) * stepMin
  const step = Math.max(10 ** (Math.floor(Math.log10(width)) - 1), stepMin)
  const rounded = Math.round(value / step) * step
  // The product of a step such as 0.1 has digits that are not meant; a large number needs them all.
  return Math.abs(value) / step < 1e12 ? Number(rounded.toPrecision(12)) : rounded
}
