/** At night, `DAS_RUNS` says how many times as often: `npm run check:night -- --only random`. */
const factor = Number(process.env['DAS_RUNS'] ?? 1)

/** Whether checks run whole, not in the small form of each day. */
export const isNight = factor > 1

/** How often a random property is tried, of how often each day. */
export function runs(everyday: number): number {
  return Math.ceil(everyday * factor)
}
