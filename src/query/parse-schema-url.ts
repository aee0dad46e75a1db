import { badRequest } from '../errors.js'
import { quoted } from '../text.js'
import { parseFlag } from './parse-url.js'
import { parseLabels } from './summary/parse-summary.js'
import type { RawSummary } from './summary/raw-summary.js'

/** What a description of a dataset is asked to hold. */
export interface SchemaQuestion {
  /** Whether each column comes with what is known of its values. */
  readonly facts: boolean
  /** The language of the names of codes; false = none. */
  readonly labels: RawSummary['labels']
}

/**
 * Parses the query string of a dataset's schema, `facts=true&labels=ru`.
 * @throws bad_request for other parameters and values, and for a parameter that is repeated
 */
export function parseSchemaUrl(query: string): SchemaQuestion {
  const parameters = new URLSearchParams(query)
  const other = [...parameters.keys()].find((name) => name !== 'facts' && name !== 'labels')
  if (other !== undefined) {
    throw badRequest(`There is no parameter ${quoted(other)}. The schema has two: facts, labels.`)
  }
  const given = (name: string) => {
    const [value, ...more] = parameters.getAll(name)
    if (more.length > 0) throw badRequest(`${name} is repeated. Give it once.`)
    return value
  }
  return { facts: parseFlag('facts', given('facts')), labels: parseLabels(given('labels')) }
}
