/** Returns what hides all elements but those that hold every word; it says how many are left. */
export function wordFinder(elements: readonly HTMLElement[]): (wanted: string) => number {
  const texts = elements.map((each) => each.textContent.toLowerCase())
  return (wanted) => {
    const parts = wanted.toLowerCase().split(/\s+/)
    let found = 0
    for (const [index, each] of elements.entries()) {
      each.hidden = !parts.every((part) => texts[index]?.includes(part))
      if (!each.hidden) found += 1
    }
    return found
  }
}
