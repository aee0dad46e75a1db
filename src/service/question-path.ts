import { holdsToken, tokenInUrlText } from '../control/tokens/token-format.js'
import { badRequest } from '../errors.js'

/** A question to a dataset, in the form of its URL. */
export interface QuestionPath {
  readonly kind: 'rows' | 'top' | 'aggregate'
  readonly dataset: string
  readonly query: string
}

/**
 * The path of a URL, with or without the server's address.
 * @throws bad_request for anything but a question for rows or groups
 */
export function readQuestionPath(url: string): QuestionPath {
  if (holdsToken(url)) throw badRequest(tokenInUrlText)
  const found =
    /^(?:https?:\/\/[^/?#]*)?\/v1\/([^/?#]+)(?:\/(aggregate|top))?\/?(?:\?([^#]*))?$/.exec(url)
  const [, segment = '', kind = 'rows', query = ''] = found ?? []
  const dataset = decodedSegment(segment)
  if (dataset !== '' && dataset !== 'account') {
    return { kind: kind as QuestionPath['kind'], dataset, query }
  }
  throw badRequest(
    'The URL must be a question for rows or groups, in quotes: "/v1/DATASET?COLUMN=eq.VALUE", ' +
      '"/v1/DATASET/top?by=COLUMN" or "/v1/DATASET/aggregate?measures=count".',
  )
}

/** Empty if the percent-encoding is broken. */
function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}
