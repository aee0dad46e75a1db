import { recordOf } from '../../registry/shape.js'

/** A part of an OpenAPI document, such as an operation or a schema. */
export type Part = Readonly<Record<string, unknown>>

/** The object at a key; empty if it is missing. */
export function partAt(part: Part, key: string): Part {
  return recordOf(part[key])
}

/** The objects of the list at a key. */
export function partsAt(part: Part, key: string): readonly Part[] {
  return valuesAt(part, key).map(recordOf)
}

/** The list at a key; empty if it is missing. */
export function valuesAt(part: Part, key: string): readonly unknown[] {
  const value = part[key]
  return Array.isArray(value) ? value : []
}

/** The text at a key; empty if it is missing. */
export function textAt(part: Part, key: string): string {
  const value = part[key]
  return typeof value === 'string' ? value : ''
}

/** The component that a reference names, otherwise the part itself. */
export function resolved(document: Part, part: Part): Part {
  const [, kind = '', name = ''] = textAt(part, '$ref').split('/').slice(1)
  return name === '' ? part : partAt(partAt(partAt(document, 'components'), kind), name)
}

/** The name of the component that this part refers to; empty if it is no reference. */
export function refName(part: Part): string {
  return textAt(part, '$ref').split('/').at(-1) ?? ''
}

type ComponentKind = 'schemas' | 'responses' | 'headers'

/** The components of a kind that these parts need, directly or not, in the document's order. */
export function componentsIn(
  document: Part,
  kind: ComponentKind,
  parts: readonly Part[],
): readonly (readonly [name: string, component: Part])[] {
  const found = new Set<string>()
  const search = (part: Part) => {
    for (const [, at = ''] of JSON.stringify(part).matchAll(/"#\/components\/([^"]+)"/g)) {
      if (found.has(at)) continue
      found.add(at)
      search(resolved(document, { $ref: `#/components/${at}` }))
    }
  }
  parts.forEach(search)
  const all = partAt(partAt(document, 'components'), kind)
  return Object.keys(all)
    .filter((name) => found.has(`${kind}/${name}`))
    .map((name) => [name, partAt(all, name)])
}
