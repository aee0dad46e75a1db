import { Parser } from 'saxen'

const bytesAtOnce = 64 * 1024
const entities = new Map(Object.entries({ amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' }))

/** A tag that opens or closes; names have no prefix. */
export interface XmlTag {
  readonly open?: string
  readonly close?: string
  readonly attributes: Readonly<Record<string, string>>
  /** The text between the last tag and this one, without hints how to pronounce it. */
  readonly text: string
}

/**
 * Reads the tags of XML in UTF-8, some at a time.
 * @throws Error for bytes that are no such XML
 */
export function* xmlTags(bytes: Uint8Array): Generator<XmlTag> {
  let [text, isHint] = ['', false]
  const tags: XmlTag[] = []
  const local = (name: string) => name.slice(name.indexOf(':') + 1)
  const add = (name: string, tag: Omit<XmlTag, 'text'>) => {
    tags.push({ ...tag, text: isHint ? '' : text })
    text = ''
    if (name === 'rPh') isHint = tag.open !== undefined
  }
  const parser = new Parser()
    .on('openTag', (name, attributesOf) => {
      const pairs = Object.entries(attributesOf())
      const attributes = pairs.map(([key, value]) => [local(key), decoded(value)])
      add(local(name), { open: local(name), attributes: Object.fromEntries(attributes) })
    })
    .on('closeTag', (name) => add(local(name), { close: local(name), attributes: {} }))
    .on('text', (value) => (text += decoded(value)))
    .on('cdata', (value) => (text += value))
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for (let at = 0; at < bytes.length; at += bytesAtOnce) {
    parser.write(decoder.decode(bytes.subarray(at, at + bytesAtOnce), { stream: true }))
    yield* tags.splice(0)
  }
  parser.write(decoder.decode()).end()
  yield* tags
}

/** saxen's own decoding would cut characters beyond 16 bits. */
function decoded(text: string): string {
  return text.replace(/&(#x?)?(\w+);/gi, (all, sign?: string, name = '') => {
    if (sign === undefined) return entities.get(name) ?? all
    return String.fromCodePoint(parseInt(name, sign === '#' ? 10 : 16))
  })
}
