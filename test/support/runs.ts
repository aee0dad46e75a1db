/**
 * How often a random property is tried: this often each day, `DAS_RUNS` times as often at night
 * (`npm run check:night -- --only random`).
 */
export function runs(everyday: number): number {
  return Math.ceil(everyday * Number(process.env['DAS_RUNS'] ?? 1))
}
