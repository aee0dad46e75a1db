import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Document, Range } from 'yaml'

/** A place in a YAML text: keys and indexes from the root. */
export type YamlPath = readonly (string | number)[]

/** A scalar as it is written, and whether it is a text: `0261012138` loses its zero as a number. */
export interface WrittenScalar {
  readonly text: string
  readonly isText: boolean
}

/** YAML whose values remember where they stand. */
export interface LocatedYaml {
  readonly content: unknown
  /** What is wrong with the syntax, each with its place; then `content` may be anything. */
  readonly problems: readonly string[]
  /** `registry.yaml:12:5`, where the key or list element at `path`, or what is nearest above, stands. */
  readonly locate: (path: YamlPath) => string
  readonly written: (path: YamlPath) => WrittenScalar
}

/** Reads a YAML text; `file` is its name in places. Keys are equal when their texts are. */
export function readLocatedYaml(text: string, file: string): LocatedYaml {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: (a, b) => isScalar(a) && isScalar(b) && String(a.value) === String(b.value),
  })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const problems = [...document.errors, ...document.warnings].map(
    ({ pos, message }) => `${at(pos[0])}: ${message}.`,
  )
  let content: unknown
  try {
    content = document.toJS()
  } catch (cause) {
    // An alias without its anchor, or so many that they would fill the memory.
    problems.push(`${file}: ${(cause as Error).message}.`)
  }
  return {
    content,
    problems,
    locate: (path) => at(steps(document, path).place?.[0] ?? 0),
    written: (path) => writtenScalar(steps(document, path)),
  }
}

interface Found {
  /** The node at the path; undefined where the path leads nowhere. */
  readonly node: unknown
  /** Where the last step that exists stands. */
  readonly place: Range | null | undefined
}

function steps(document: Document, path: YamlPath): Found {
  let found: Found = { node: document.contents, place: undefined }
  for (const step of path) {
    const next = child(document, found.node, step)
    if (!next) return { node: undefined, place: found.place }
    found = next
  }
  return found
}

function child(document: Document, node: unknown, step: string | number): Found | undefined {
  const parent = isAlias(node) ? node.resolve(document) : node
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
    return pair && { node: pair.value, place: isScalar(pair.key) ? pair.key.range : undefined }
  }
  const item = isSeq(parent) ? parent.items[Number(step)] : undefined
  return isScalar(item) || isMap(item) || isSeq(item) || isAlias(item)
    ? { node: item, place: item.range }
    : undefined
}

function writtenScalar({ node }: Found): WrittenScalar {
  if (!isScalar(node)) return { text: '', isText: false }
  return { text: String(node.source ?? node.value), isText: typeof node.value === 'string' }
}
