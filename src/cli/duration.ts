import { badRequest } from '../errors.js'

const unitMs: Readonly<Record<string, number | undefined>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const durationMsMax = 366 * 86_400_000

/**
 * A duration in milliseconds: `0`, or a whole number of seconds, minutes, hours or days up to one
 * year, such as 90s, 30m, 24h, 7d.
 * @throws bad_request that names the option
 */
export function parseDuration(text: string, option: string): number {
  if (text === '0') return 0
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const ms = Number(digits) * (unitMs[unit] ?? NaN)
  if (digits !== '' && ms <= durationMsMax) return ms
  throw badRequest(
    `${option} must be a duration of up to a year, such as 30m, 24h, 7d, or 0, got "${text}".`,
  )
}
