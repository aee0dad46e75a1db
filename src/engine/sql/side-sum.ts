import type { ColumnAt, Side } from '../../columns/formula.js'
import type { Dialect } from './dialect.js'
import { stepsOf } from './exact-numbers.js'

/** The sum of a side in a group: a whole number of steps of this scale, or a DOUBLE. */
export type SideSum =
  | {
      readonly kind: 'exact'
      readonly steps: string
      readonly scale: number
      /** True where a factor leaves the steps in the widest integer; null without a factor. */
      readonly fits: string | null
      /** The sum as a DOUBLE, for where it does not. */
      readonly double: string
    }
  | { readonly kind: 'double'; readonly sql: string }

/** The sum of a column of a side. */
interface TermSum {
  /** SQL of the sum of a column of this scale; NULL where no row has it. */
  readonly sum: string
  readonly scale: number
  readonly isSubtracted: boolean
}

/** Any integer of so many digits fits in the widest one. */
const widestDigits = 38

/** The sums of a side's columns added up, NULL where no row has any of them, times the factor. */
export function exactSide(
  dialect: Dialect,
  sums: readonly TermSum[],
  factor: string | null,
): SideSum {
  const scale = Math.max(...sums.map((each) => each.scale))
  const [whole = '1', places = ''] = (factor ?? '1').split('.')
  const times = (steps: string, by: bigint) =>
    by === 1n ? steps : dialect.wide(`${steps} * ${dialect.integer(by)}`)
  const steps = sums.map((each) =>
    times(stepsOf(dialect, each.sum, each.scale), 10n ** BigInt(scale - each.scale)),
  )
  const total = steps.reduce((sum, each, index) => {
    const sign = sums[index]?.isSubtracted ? '-' : '+'
    return dialect.wide(`coalesce(${sum}, 0) ${sign} coalesce(${each}, 0)`)
  })
  const isThere = sums.map((each) => `${each.sum} IS NOT NULL`).join(' OR ')
  const sum = sums.length === 1 ? total : `CASE WHEN ${isThere} THEN ${total} END`
  const multiple = BigInt(whole + places)
  const fits =
    multiple <= 1n
      ? null
      : `abs(${sum}) < ${dialect.integer(10n ** BigInt(widestDigits - String(multiple).length))}`
  return {
    kind: 'exact',
    steps: times(sum, multiple),
    scale: scale + places.length,
    fits,
    double: `(CAST(${sum} AS DOUBLE) * ${factor ?? '1'}e0 / 1e${scale})`,
  }
}

/** SQL of a sum as a DOUBLE. */
export function asDouble(sum: SideSum): string {
  return sum.kind === 'double' ? sum.sql : sum.double
}

/** SQL of a DOUBLE times the factor of its side. */
export function timesFactor({ factor }: Side, double: string): string {
  return factor === null ? double : `(${factor}e0 * ${double})`
}

/** The digits after the point of an exact number. */
export function scaleOf({ column: { type } }: ColumnAt): number {
  return type.kind === 'decimal' ? type.scale : 0
}
