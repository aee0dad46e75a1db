/**
 * Milliseconds until a slot is free for a query with `ahead` others before it, each of which runs
 * for `eachMs`. `endsMs` holds the end times of the running queries; other slots are free now.
 */
export function untilFree(
  endsMs: readonly number[],
  slots: number,
  ahead: number,
  eachMs: number,
): number {
  const free: readonly number[] = Array.from(
    { length: Math.max(slots - endsMs.length, 0) },
    () => 0,
  )
  const ends = [...free, ...endsMs].sort((left, right) => left - right)
  return (ends[ahead % slots] ?? 0) + Math.floor(ahead / slots) * eachMs
}
