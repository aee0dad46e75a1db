import { accessibleDatasets } from '../access/access.js'
import type { Prompt } from '../registry/prompt-schema.js'
import type { Caller } from './caller.js'

/** The registry's prompts whose datasets the caller can all read, in registry order. */
export function offeredPrompts({ principal, catalog }: Caller): readonly Prompt[] {
  const readable = accessibleDatasets(principal, catalog).map(({ dataset }) => dataset.name)
  return catalog.prompts.filter(({ datasets }) => datasets.every((name) => readable.includes(name)))
}
