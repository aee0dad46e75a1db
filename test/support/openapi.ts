import type { World } from './world.js'

export type Json = Readonly<Record<string, unknown>>

/** An OpenAPI document as far as the tests look into it. */
export interface Document {
  readonly openapi: string
  readonly servers: readonly Json[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Json[]
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples: Readonly<Record<string, { readonly value: unknown }>> }>
    >
  }
  readonly responses: Readonly<Record<string, Json>>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly description: string
  readonly example?: readonly string[]
  readonly schema: Json & {
    readonly examples?: readonly (readonly string[])[]
    readonly items?: Json
  }
}

/** The document that a token is shown, or anybody. */
export async function readDocument(world: World, token?: string): Promise<Document> {
  const { status, text } = await world.get('/openapi.json', token)
  if (status !== 200) throw new Error(`no document but ${status}: ${text}`)
  return JSON.parse(text) as Document
}

/** What a reference in the document points to. */
export function resolved(document: Document, { $ref }: Json): Json {
  const [, , kind = '', name = ''] = String($ref).split('/')
  const found = document.components[kind]?.[name]
  if (!found) throw new Error(`${String($ref)} points nowhere`)
  return found
}

/** The query parameters of an operation, by name. */
export function parametersOf(document: Document, path: string): ReadonlyMap<string, Parameter> {
  const refs = document.paths[path]?.['get']?.parameters ?? []
  const all = refs.map((ref) => resolved(document, ref) as unknown as Parameter)
  return new Map(all.filter((each) => each.in === 'query').map((each) => [each.name, each]))
}

/** Every path that the server has a route for, as it was written. */
export function routesOf(world: World): readonly string[] {
  const trail: string[] = []
  const lines = world.app.server.printRoutes({ commonPrefix: false }).split('\n')
  const paths = lines.flatMap((line) => {
    const [, indent = '', name, methods] = /^([│ ]*)[├└]── (\S+)( \(.+\))?/.exec(line) ?? []
    if (name === undefined) return []
    trail.splice(indent.length / 4, trail.length, name)
    return methods === undefined ? [] : [trail.join('')]
  })
  return [...new Set(paths)]
}
