/** Random numbers that are the same for the same seed. */
export interface Random {
  /** A whole number from `min` to `max`, both included. */
  readonly whole: (min: number, max: number) => number
  /** One of the list, each as likely as another. */
  readonly oneOf: <T>(list: readonly T[]) => T
}

/**
 * The source for a seed and the numbers that distinguish its users. Mulberry32 by Tommy Ettinger
 * (public domain); each number changes the state once.
 */
export function randomOf(seed: number, ...path: readonly number[]): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  for (const step of path) state = (next() ^ step) >>> 0
  const whole = (min: number, max: number) => min + (next() % (max - min + 1))
  const oneOf = <T>(list: readonly T[]): T => {
    const chosen = list[whole(0, list.length - 1)]
    if (chosen === undefined) throw new RangeError('nothing to choose from')
    return chosen
  }
  return { whole, oneOf }
}
