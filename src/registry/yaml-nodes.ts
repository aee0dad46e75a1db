import { isCollection, isMap, isScalar, parseDocument } from 'yaml'
import type { Node, Pair, YAMLMap } from 'yaml'
import type { Splice } from './yaml-text.js'

/** The root of a YAML text; its nodes have their ranges in the text. */
export function rootOf(text: string): unknown {
  return parseDocument(text, { keepSourceTokens: true, uniqueKeys: false }).contents
}

/** The pair of a map with this key, however the key is written. */
export function pairOf(node: unknown, name: string): Pair | undefined {
  if (!isMap(node)) return undefined
  return node.items.find(({ key }) => isScalar(key) && String(key.value) === name)
}

/** A change that replaces a node. */
export function replace(text: string, node: Node, put: string): Splice {
  return { start: startOf(node), end: endOf(text, node), text: put }
}

/** The start of a node, after its anchor and tag. */
export function startOf({ range }: Node): number {
  if (!range) throw new Error('a parsed node has no range')
  return range[0]
}

/** The end of a node's own text, without what follows on the line. */
export function endOf(text: string, node: Node): number {
  const [start = 0, end = 0] = node.range ?? []
  const last = isCollection(node) && !node.flow ? node.items.at(-1) : undefined
  if (last === undefined) return start + text.slice(start, end).trimEnd().length
  const pair = isMap(node) ? (last as Pair) : null
  // Keys and values of a parsed document are nodes, or null if nothing is written.
  const inner = (pair ? (pair.value ?? pair.key) : last) as Node | null
  return inner ? endOf(text, inner) : end
}

/** Whether a `[ … ]` or `{ … }` has comments inside. */
export function hasComments({ srcToken }: YAMLMap): boolean {
  if (srcToken?.type !== 'flow-collection') return true
  const tokens = srcToken.items.flatMap(({ start, sep }) => [...start, ...(sep ?? [])])
  return tokens.some(({ type }) => type === 'comment')
}
