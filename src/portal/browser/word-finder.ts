/** Returns a function that hides elements without all the words and counts the rest. */
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
