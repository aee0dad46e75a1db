import type { Language } from '../config.js'
import type { Grant } from '../control/grants.js'
import { textIn } from '../registry/local-text.js'
import { planOf } from '../registry/registry.js'
import type { Registry } from '../registry/registry.js'
import type { LetterGrant } from './letter-content.js'

/** A grant with the dataset's title and the plan's limits, as far as the registry has them. */
export function nameGrant(
  registry: Registry | null,
  { dataset, plan }: Grant,
  language: Language,
): LetterGrant {
  const entry = registry?.datasets.get(dataset)
  const offer = planOf(registry, { dataset, plan }) ?? null
  const title = entry ? textIn(language, entry.title) : dataset
  return { title, dataset, plan, offer }
}
