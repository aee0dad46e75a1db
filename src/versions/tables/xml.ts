import { Parser } from 'saxen'

const bytesAtOnce = 64 * 1024
const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' },
}

/** A tag; names have no prefix. */
export interface XmlTag {
  readonly open: string | null
  readonly close: string | null
  /** Reads an attribute of an open tag. */
  readonly attribute: (name: string) => string | undefined
  /** The text before a closing tag, from the last tag on; hints how to pronounce it left out. */
  readonly text: string
}

/**
 * Reads the tags of an XML part in UTF-8, some at a time.
 * @throws Error for bytes that are no such XML
 */
export function* xmlTags(bytes: Uint8Array): Generator<XmlTag> {
  let [text, isHint, tags] = ['', false, [] as XmlTag[]]
  const local = (name: string) => name.slice(name.indexOf(':') + 1)
  const add = (value: string) => {
    if (!isHint) text += value
  }
  const parser = new Parser()
    .on('openTag', (name, attributesOf) => {
      const attributes = attributesOf()
      const attribute = (wanted: string) => {
        const key = Object.keys(attributes).find((each) => local(each) === wanted)
        return key === undefined ? undefined : decoded(attributes[key] ?? '')
      }
      if (local(name) === 'rPh') isHint = true
      text = ''
      tags.push({ open: local(name), close: null, attribute, text })
    })
    .on('text', (value) => add(decoded(value)))
    .on('cdata', add)
    .on('closeTag', (name) => {
      if (local(name) === 'rPh') isHint = false
      tags.push({ open: null, close: local(name), attribute: () => undefined, text })
      text = ''
    })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for (let at = 0; at < bytes.length; at += bytesAtOnce) {
    parser.write(decoder.decode(bytes.subarray(at, at + bytesAtOnce), { stream: true }))
    yield* tags.splice(0)
  }
  parser.write(decoder.decode())
  parser.end()
  yield* tags
}

/** saxen's own decoding would cut characters beyond 16 bits. */
function decoded(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (all: string, ...found: unknown[]) => {
    const [hex, decimal, name] = found.map((each) => (each === undefined ? null : String(each)))
    if (name) return entities[name] ?? all
    return String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal))
  })
}
