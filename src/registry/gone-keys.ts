import type { ShapeProblem } from './shape.js'

/** Keys of the release before that are gone, and what holds now; `*` is any name. */
const goneKeys: Readonly<Record<string, string>> = {
  'datasets.*.pack_to': 'each server packs its own copy now',
}

/** Splits the mistakes of a registry: a key that is gone is ignored, with a warning. */
export function splitGone(problems: readonly ShapeProblem[]): {
  readonly warnings: readonly ShapeProblem[]
  readonly mistakes: readonly ShapeProblem[]
} {
  const warnings = problems.flatMap((problem) => {
    const advice = adviceFor(problem.path)
    return advice ? [{ ...problem, message: `is gone and ignored: ${advice}. Remove it.` }] : []
  })
  return { warnings, mistakes: problems.filter(({ path }) => !adviceFor(path)) }
}

function adviceFor(path: readonly string[]): string | undefined {
  const isAt = (parts: readonly string[]) =>
    parts.length === path.length && parts.every((part, at) => part === '*' || part === path[at])
  return Object.entries(goneKeys).find(([key]) => isAt(key.split('.')))?.[1]
}
