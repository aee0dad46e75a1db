/** What one of a unit is: 1,000 RUB of `thousand RUB`. */
export interface UnitScale {
  readonly factor: number
  readonly unit: string
}

const factors: readonly (readonly [words: string, factor: number])[] = [
  ['thousands?|thsd?\\.?|тыс\\.?|тысяч[аи]?', 1e3],
  ['millions?|mln\\.?|mn|млн\\.?|миллион(?:ов|а)?', 1e6],
  ['billions?|bln\\.?|bn|млрд\\.?|миллиард(?:ов|а)?', 1e9],
  ['trillions?|trn|трлн\\.?|триллион(?:ов|а)?', 1e12],
]
/** `thousand RUB`, `millions of RUB`, `тыс.руб.`; `RUB, thousand`, `руб., млн`. */
const scales = factors.map(([words, factor]) => {
  return {
    factor,
    form: new RegExp(`^(?:${words})(?:\\s+(?:of\\s+)?|(?<=\\.)|$)|,\\s+(?:${words})$`, 'iu'),
  }
})

/**
 * Takes the number out of a unit: a value that is shown in short is multiplied by it, or 4 trillion
 * roubles in thousands would be shown as 4 billion.
 */
export function unitScale(unit: string): UnitScale {
  for (const { form, factor } of scales) {
    const rest = unit.replace(form, '')
    if (rest !== unit) return { factor, unit: rest }
  }
  return { factor: 1, unit }
}
