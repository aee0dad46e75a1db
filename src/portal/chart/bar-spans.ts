/** Where a bar begins and how long it is, as shares of the room from 0 to 1. */
export interface BarSpan {
  readonly start: number
  readonly length: number
}

/** The bars of values on one scale, which has zero: each begins or ends there. */
export function barSpans(values: readonly number[]): readonly BarSpan[] {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const room = high - low || 1
  return values.map((value) => ({
    start: (Math.min(value, 0) - low) / room,
    length: Math.abs(value) / room,
  }))
}
