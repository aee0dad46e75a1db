const half = 2 ** 32

/** The bits that two masks of up to 52 bits share; operators of JavaScript cut at 32. */
export function overlap(left: number, right: number): number {
  const high = Math.floor(left / half) & Math.floor(right / half)
  return high * half + ((left & right) >>> 0)
}
