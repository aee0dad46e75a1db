/** What one of a unit is: 1,000 RUB of `thousand RUB`. */
export interface UnitScale {
  readonly factor: number
  readonly unit: string
}

const factors: readonly (readonly [word: RegExp, factor: number])[] = [
  [/^(?:thousands?|тыс\.|тысяч[аи]?)\s+(?:of\s+)?/iu, 1e3],
  [/^(?:millions?|mln|млн\.?|миллион(?:ов|а)?)\s+(?:of\s+)?/iu, 1e6],
  [/^(?:billions?|bln|млрд\.?|миллиард(?:ов|а)?)\s+(?:of\s+)?/iu, 1e9],
]

/**
 * Takes the number out of a unit: a value that is shown in short is multiplied by it, or 4 trillion
 * roubles in thousands would be shown as 4 billion.
 */
export function unitScale(unit: string): UnitScale {
  for (const [word, factor] of factors) {
    const rest = unit.replace(word, '')
    if (rest !== unit && rest !== '') return { factor, unit: rest }
  }
  return { factor: 1, unit }
}
