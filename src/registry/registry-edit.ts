import { isDeepStrictEqual } from 'node:util'
import { isCollection, isMap, isScalar, parse, parseDocument } from 'yaml'
import type { Node, Pair, YAMLMap } from 'yaml'
import { readLocatedYaml } from './located-yaml.js'
import { RegistryError } from './registry.js'
import { recordOf } from './shape.js'
import { scalarText } from './yaml-text.js'

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
  const result = withLines(text, name, block)
  const entry: unknown = parse(block)
  const wanted = { ...before, datasets: { ...datasets, [name]: entry } }
  if (!isDeepStrictEqual(plain(contentOf(result)), plain(wanted))) throw notEditable()
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

function notEditable(): Error {
  return new Error("datasets in the registry can't be edited automatically; edit it by hand")
}

const rootLevel = 2

function withLines(text: string, name: string, block: string): string {
  const root = parseDocument(text, { keepSourceTokens: true, uniqueKeys: false }).contents
  const pair = isMap(root) ? root.items.find(isDatasets) : undefined
  const value = (pair?.value ?? null) as Node | null
  if (isMap(root) && root.flow) throw notEditable()
  if (isMap(value) && value.items.length > 0) {
    if (value.flow) throw notEditable()
    const step = value.srcToken?.type === 'block-map' ? value.srcToken.indent : rootLevel
    return inserted(text, afterLast(text, value, step), ['', ...entryLines(name, block, step)])
  }
  const lines = entryLines(name, block, rootLevel)
  if (pair) return withFirst(text, pair, value, lines)
  const table = ['datasets:', ...lines]
  return isMap(root) ? inserted(text, afterLast(text, root, 0), ['', ...table]) : atEnd(text, table)
}

function isDatasets({ key }: Pair): boolean {
  return isScalar(key) && key.value === 'datasets'
}

/** With the first entry below `datasets:`, in place of an empty value. */
function withFirst(
  text: string,
  { key }: Pair,
  value: Node | null,
  lines: readonly string[],
): string {
  // A key of a parsed document is a node.
  const keyEnd = endOf(text, key as Node)
  const [start, end] = value ? [value.range?.[0] ?? 0, endOf(text, value)] : [keyEnd, keyEnd]
  const written = text.slice(start, end)
  if (!['', '{}', '~', 'null'].includes(written.replaceAll(' ', ''))) throw notEditable()
  if (written === '') return inserted(text, lineEnd(text, keyEnd), lines)
  const stop = lineEnd(text, end)
  const before = text.slice(0, text[start - 1] === ' ' ? start - 1 : start)
  const bare = before + text.slice(end)
  return inserted(bare, bare.length - (text.length - stop), lines)
}

/** The end of a node's own text, without what follows on the line. */
function endOf(text: string, node: Node): number {
  const [start = 0, end = 0] = node.range ?? []
  const last = isCollection(node) && !node.flow ? node.items.at(-1) : undefined
  if (last === undefined) return start + text.slice(start, end).trimEnd().length
  const pair = isMap(node) ? (last as Pair) : null
  // Keys and values of a parsed document are nodes, or null if nothing is written.
  const inner = (pair ? (pair.value ?? pair.key) : last) as Node | null
  return inner ? endOf(text, inner) : end
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

function atEnd(text: string, lines: readonly string[]): string {
  const begin = lineBreakOf(text)
  const gap = text.trim() === '' ? '' : begin
  const whole = text === '' || text.endsWith('\n') ? gap : begin + gap
  return text + whole + lines.join(begin) + begin
}

/** With lines below the one that ends at `end`. */
function inserted(text: string, end: number, lines: readonly string[]): string {
  const begin = lineBreakOf(text)
  return text.slice(0, end) + lines.map((line) => begin + line).join('') + text.slice(end)
}

/** The line break that a text uses. */
function lineBreakOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

/** The end of the line of `offset`, before its line break. */
function lineEnd(text: string, offset: number): number {
  const found = /\r?\n/.exec(text.slice(offset))
  return found ? offset + found.index : text.length
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
