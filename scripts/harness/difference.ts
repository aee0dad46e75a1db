const beforeMax = 60
const afterMax = 100

/** Where a text differs from the expected one, with what is there; null where it does not. */
export function differenceOf(found: string, expected: string): string | null {
  if (found === expected) return null
  let at = 0
  while (found[at] === expected[at]) at++
  const around = (text: string) =>
    JSON.stringify(text.slice(Math.max(0, at - beforeMax), at + afterMax))
  return `at ${at}: ${around(found)} instead of ${around(expected)}`
}
