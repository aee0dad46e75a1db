import type { Test } from 'tap'
import { recordOf } from '../../../src/registry/shape.js'
import type { McpClient } from './mcp-clients.js'

type Json = Readonly<Record<string, unknown>>

export type ToolCaller = Pick<McpClient, 'callTool'>

const walkPagesMax = 100

/** One walk by cursor, from the first row of a dataset to the last. */
export class Walk {
  readonly rows: Json[] = []
  /** How many rows each page had. */
  readonly pageRows: unknown[] = []
  readonly #question: Json
  #cursor: unknown

  constructor(resource: string, limit: number) {
    this.#question = { resource, limit }
  }

  /** Reads the next page, with whichever client. */
  async readPage(t: Test, client: ToolCaller): Promise<void> {
    const more = this.#cursor === undefined ? {} : { cursor: this.#cursor }
    const page = await call(t, client, 'query', { ...this.#question, ...more })
    this.rows.push(...rowsOf(page))
    this.pageRows.push(page['row_count'])
    this.#cursor = page['next_cursor']
  }

  /** Reads all pages that are left. */
  async readRest(t: Test, client: ToolCaller): Promise<void> {
    while (this.#cursor !== null && this.pageRows.length < walkPagesMax) {
      await this.readPage(t, client)
    }
  }
}

/** An answer's columns turned into rows. */
function rowsOf({ columns, data, row_count: count }: Json): readonly Json[] {
  const values = recordOf(data)
  return Array.from({ length: Number(count) }, (_, index) =>
    Object.fromEntries(
      (columns as readonly string[]).map((name) => [
        name,
        (values[name] as readonly unknown[])[index],
      ]),
    ),
  )
}

/** Calls a tool that answers: the same data as structure and as text. */
export async function call(t: Test, client: ToolCaller, name: string, args: Json): Promise<Json> {
  const result = recordOf(await client.callTool({ name, arguments: { ...args } }))
  const answer = recordOf(result['structuredContent'])
  t.notOk(result['isError'], `${name} answers`)
  t.match(result['content'], [{ type: 'text' }])
  t.same(JSON.parse(textOf(result)), answer)
  return answer
}

/** The text of a tool's error. */
export function errorText(t: Test, result: object): string {
  const { isError, structuredContent } = recordOf(result)
  t.equal(isError, true)
  t.notOk(structuredContent, 'nothing for a client to check against the schema')
  return textOf(result)
}

function textOf(result: object): string {
  const [content] = recordOf(result)['content'] as readonly Json[]
  return String(content?.['text'])
}
