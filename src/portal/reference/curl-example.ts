import { encodeForUrl, encodeList } from '../../query/write-url.js'
import { curlCommand, shellQuoted } from '../../service/client-texts.js'
import type { Operation } from './operations.js'
import { textAt } from './parts.js'
import type { Part } from './parts.js'

/** A command that sends a request of this operation, made of the document's examples. */
export function curlExample(operation: Operation, base: string, token: string): string {
  const { path, parameters, filters, body, needsToken } = operation
  const query = [...parameters, ...filters].flatMap(queryOf).join('&')
  const url = `${base}${path}${query === '' ? '' : `?${query}`}`
  if (!needsToken) return `curl ${shellQuoted(url)}`
  const command = curlCommand(url, token)
  if (!body) return command
  const json = shellQuoted(JSON.stringify(body.example))
  return `${command} \\\n  -H 'Content-Type: application/json' \\\n  -d ${json}`
}

/** The pairs of a parameter's example; a list is one pair, or with `explode` a pair for each. */
function queryOf(parameter: Part): readonly string[] {
  const { example, explode } = parameter
  if (example === undefined) return []
  const name = encodeForUrl(textAt(parameter, 'name'))
  if (!Array.isArray(example)) return [`${name}=${encodeForUrl(String(example))}`]
  const values = example.map(String)
  const texts = explode !== false ? values.map(encodeForUrl) : [encodeList(values)]
  return texts.map((text) => `${name}=${text}`)
}
