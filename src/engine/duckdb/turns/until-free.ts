/**
 * Milliseconds until a place is free for the one before whom so many others go, each for `eachMs`.
 * `endsMs` says when the running ones end; places that are not taken are free now.
 */
export function untilFree(
  endsMs: readonly number[],
  places: number,
  ahead: number,
  eachMs: number,
): number {
  const free: readonly number[] = Array.from(
    { length: Math.max(places - endsMs.length, 0) },
    () => 0,
  )
  const ends = [...free, ...endsMs].sort((left, right) => left - right)
  return (ends[ahead % places] ?? 0) + Math.floor(ahead / places) * eachMs
}
