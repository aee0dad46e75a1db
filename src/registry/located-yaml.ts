import { Lexer, LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml'
import type { Document, Range } from 'yaml'
import { brokenAliasText, yamlMistakeText } from './yaml-mistakes.js'

/** Keys and indexes from the root to a value. */
export type YamlPath = readonly (string | number)[]

/** A scalar as it is written: as a number, `0261012138` would lose its zero. */
export interface WrittenScalar {
  readonly text: string
  readonly isText: boolean
}

/** YAML whose values can be located in their text. */
export interface LocatedYaml {
  readonly content: unknown
  /** Syntax errors with their location; if there are any, `content` is not usable. */
  readonly problems: readonly string[]
  /** The location, `registry.yaml:12:5`, of the key or element at `path`, or the nearest above. */
  readonly locate: (path: YamlPath) => string
  readonly scalarAt: (path: YamlPath) => WrittenScalar
}

/** Reads a YAML text; `file` is its name in locations. Keys with the same text are equal. */
export function readLocatedYaml(text: string, file: string): LocatedYaml {
  const lines = new LineCounter()
  const problem = text.includes('\0')
    ? `${file}:1:1: It has zero bytes, as files in UTF-16 have. Save it as UTF-8.`
    : isDeep(text)
      ? `${file} has more than ${depthMax} levels, one in another.`
      : null
  if (problem !== null) {
    return {
      content: null,
      problems: [problem],
      locate: () => file,
      scalarAt: () => writtenScalar({ node: undefined, range: undefined }),
    }
  }
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
    (mistake) => `${at(mistake.pos[0])}: ${yamlMistakeText(mistake, text)}.`,
  )
  let content: unknown
  try {
    content = document.toJS()
  } catch (cause) {
    // An alias without its anchor, or so many aliases that they would fill the memory.
    const why = brokenAliasText((cause as Error).message)
    problems.push(`${at(brokenAlias(document))}: ${why}.`)
  }
  return {
    content,
    problems,
    locate: (path) => at(steps(document, path).range?.[0] ?? 0),
    scalarAt: (path) => writtenScalar(steps(document, path)),
  }
}

/** Far more than a registry needs; the time to read a text grows by powers of its depth. */
const depthMax = 50

/** Whether brackets, indents, or marks of keys and items are nested too deep, by the tokens. */
function isDeep(text: string): boolean {
  let [brackets, items, keys, isStart] = [0, 0, 0, true]
  for (const token of new Lexer().lex(text)) {
    const isEnd = token === '\n' || token === '\r\n'
    if (isEnd) items = 0
    else if (token === '[' || token === '{') brackets += 1
    else if (token === ']' || token === '}') brackets -= 1
    else if (token === '-') items += 1
    else if (token === '?') keys += 1
    const indent = isStart && /^ +$/.test(token) ? token.length : 0
    isStart = isEnd
    if (Math.max(brackets, items, keys, indent / 4) > depthMax) return true
  }
  return false
}

/** The offset of the first alias without an anchor; 0 if every alias has one. */
function brokenAlias(document: Document): number {
  let offset = 0
  visit(document, {
    Alias: (_key, node) => {
      if (node.resolve(document)) return undefined
      offset = node.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

interface Found {
  /** The node at the path; undefined where the path leads nowhere. */
  readonly node: unknown
  /** The range of the last step that exists. */
  readonly range: Range | null | undefined
}

function steps(document: Document, path: YamlPath): Found {
  let found: Found = { node: document.contents, range: undefined }
  for (const step of path) {
    const next = child(document, found.node, step)
    if (!next) return { node: undefined, range: found.range }
    found = next
  }
  return found
}

function child(document: Document, node: unknown, step: string | number): Found | undefined {
  const parent = isAlias(node) ? node.resolve(document) : node
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
    return pair && { node: pair.value, range: isScalar(pair.key) ? pair.key.range : undefined }
  }
  const item = isSeq(parent) ? parent.items[Number(step)] : undefined
  return isScalar(item) || isMap(item) || isSeq(item) || isAlias(item)
    ? { node: item, range: item.range }
    : undefined
}

function writtenScalar({ node }: Found): WrittenScalar {
  if (!isScalar(node)) return { text: '', isText: false }
  return { text: String(node.source ?? node.value), isText: typeof node.value === 'string' }
}
