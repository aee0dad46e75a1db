import type { Column } from './column.js'
import { onGrid, parseFloating } from './values.js'

/**
 * A value as rows show it: `7` for `007` in a column of integers, `7.00` for `7` in one with two
 * decimals. A text that is no such value, or shown in no other way, is returned as it is.
 */
export function shownText({ rules: { shown, domain } }: Column, text: string): string {
  if (domain.kind === 'text') return domain.form === 'uuid' ? text.toLowerCase() : text
  if (domain.kind === 'float') {
    const number = parseFloating(text)
    if (number === undefined) return text
    return Number.isInteger(number) ? number.toFixed(1) : String(number)
  }
  if (domain.kind !== 'grid' || (shown !== 'integer' && shown !== 'number')) return text
  const value = domain.parse(text)
  if (!value) return text
  const { floor, exact } = onGrid(value, domain.scale)
  return exact ? decimalText(floor, domain.scale) : text
}

/** A number of steps of 10^-`scale` in plain digits. */
export function decimalText(steps: bigint, scale: number): string {
  const digits = String(steps < 0n ? -steps : steps).padStart(scale + 1, '0')
  const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(-scale)]
  return `${steps < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${fraction}`}`
}
