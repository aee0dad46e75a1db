import { isDeepStrictEqual } from 'node:util'
import { isMap, parse } from 'yaml'
import type { Node, Pair, YAMLMap } from 'yaml'
import { readLocatedYaml } from './located-yaml.js'
import { RegistryError } from './registry.js'
import { recordOf } from './shape.js'
import { endOf, hasComments, pairOf, replace, rootOf, startOf } from './yaml-nodes.js'
import { flowText, lineBreakOf, lineEnd, scalarText, splice } from './yaml-text.js'
import type { Splice } from './yaml-text.js'

/**
 * The registry's text with one more dataset after the others, indented like them. `block` holds the
 * entry's lines, two spaces a level, comments allowed. Every other byte stays, except an empty
 * `datasets: {}` or `null`, which the entry replaces.
 * @throws RegistryError for invalid YAML; Error if other parts would have to change
 */
export function withDatasetEntry(text: string, name: string, block: string): string {
  const before = contentOf(text)
  const datasets = recordOf(before['datasets'])
  if (Object.hasOwn(datasets, name)) throw new Error(`the registry already has a dataset "${name}"`)
  const result = splice(text, entryChanges(text, name, block))
  const entry: unknown = parse(block)
  const wanted = { ...before, datasets: { ...datasets, [name]: entry } }
  if (!isDeepStrictEqual(plain(contentOf(result)), plain(wanted))) throw notEditable('datasets')
  return result
}

function contentOf(text: string): Readonly<Record<string, unknown>> {
  const { content, problems } = readLocatedYaml(text, 'registry.yaml')
  if (problems.length > 0) throw new RegistryError(problems)
  return recordOf(content)
}

/** The values alone, without aliases and prototypes. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function notEditable(key: string): Error {
  return new Error(`${key} in the registry can't be edited automatically; edit it by hand`)
}

const rootLevel = 2

function entryChanges(text: string, name: string, block: string): readonly Splice[] {
  const root = rootOf(text)
  const pair = pairOf(root, 'datasets')
  const value = (pair?.value ?? null) as Node | null
  const whole = { datasets: { [name]: parse(block) as unknown } }
  if (isMap(root) && root.flow) return flowChanges(text, root, pair, whole)
  if (isMap(value) && value.items.length > 0) {
    if (value.flow) return [flowAddition(text, value, whole.datasets)]
    const step = value.srcToken?.type === 'block-map' ? value.srcToken.indent : rootLevel
    return [addition(text, afterLast(text, value, step), entryLines(name, block, step))]
  }
  const lines = entryLines(name, block, rootLevel)
  if (pair) return firstChanges(text, pair, value, lines)
  const table = ['datasets:', ...lines]
  if (isMap(root)) return [addition(text, afterLast(text, root, 0), table)]
  return [atEnd(text, table)]
}

/** Adds the first entry below `datasets:`, in place of an empty value. */
function firstChanges(
  text: string,
  { key }: Pair,
  value: Node | null,
  lines: readonly string[],
): readonly Splice[] {
  const written = value ? text.slice(startOf(value), endOf(text, value)) : ''
  if (!['', '{}', '~', 'null'].includes(written.replaceAll(' ', ''))) throw notEditable('datasets')
  const keyEnd = endOf(text, key as Node)
  const begin = lineBreakOf(text)
  if (!value || written === '') {
    const end = lineEnd(text, keyEnd)
    return [{ start: end, end, text: begin + lines.join(begin) }]
  }
  const { start, end } = replace(text, value, '')
  const stop = lineEnd(text, end)
  const isSpaced = text[start - 1] === ' '
  return [
    { start: isSpaced ? start - 1 : start, end, text: '' },
    { start: stop, end: stop, text: begin + lines.join(begin) },
  ]
}

function flowChanges(
  text: string,
  root: YAMLMap,
  pair: Pair | undefined,
  whole: { readonly datasets: Readonly<Record<string, unknown>> },
): readonly Splice[] {
  const value = pair?.value
  if (!pair) return [flowAddition(text, root, whole)]
  if (isMap(value)) return [flowAddition(text, value, whole.datasets)]
  throw notEditable('datasets')
}

/** Adds a pair to `{ … }`. */
function flowAddition(
  text: string,
  map: YAMLMap,
  pairs: Readonly<Record<string, unknown>>,
): Splice {
  const put = flowText(pairs).slice(1, -1).trim()
  const last = map.items.at(-1)
  if (!last) {
    if (hasComments(map)) throw notEditable('datasets')
    return replace(text, map, `{ ${put} }`)
  }
  const node = (last.value ?? last.key) as Node
  const end = endOf(text, node)
  return { start: end, end, text: `, ${put}` }
}

/** The end of the last entry, with the comments that are indented deeper than its name. */
function afterLast(text: string, map: YAMLMap, indent: number): number {
  let end = lineEnd(text, endOf(text, map))
  const comments = /\r?\n(?:[ \t]*\r?\n)*( *)#[^\r\n]*/y
  for (;;) {
    comments.lastIndex = end
    const [found, spaces] = comments.exec(text) ?? []
    if (found === undefined || spaces === undefined || spaces.length <= indent) return end
    end += found.length
  }
}

function addition(text: string, end: number, lines: readonly string[]): Splice {
  const begin = lineBreakOf(text)
  return { start: end, end, text: begin + begin + lines.join(begin) }
}

function atEnd(text: string, lines: readonly string[]): Splice {
  const begin = lineBreakOf(text)
  const gap = text.trim() === '' ? '' : begin
  const whole = text === '' || text.endsWith('\n') ? gap : begin + gap
  return { start: text.length, end: text.length, text: whole + lines.join(begin) + begin }
}

/** The entry's lines, indented like its neighbours. */
function entryLines(name: string, block: string, step: number): readonly string[] {
  const lines = block.trimEnd().split('\n')
  const deeper = lines.map((line) => {
    const depth = line.length - line.trimStart().length
    return line === '' ? '' : ' '.repeat(2 * step + (depth / 2) * step) + line.trimStart()
  })
  return [`${' '.repeat(step)}${scalarText(name)}:`, ...deeper]
}
