import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { Revision } from './suite.js'

/**
 * What is known to fail, by the reason: scenarios, and single checks as `scenario:check`. All other
 * checks of such a scenario must pass.
 */
export interface Baseline {
  readonly needsFixture: readonly string[]
  readonly doesNotApply: readonly string[]
}

const folder = 'test/mcp/conformance'

/** What may fail against this server in this revision, from the lists in `test/mcp/conformance`. */
export async function readBaseline(
  server: 'product' | 'fixtures',
  revision: Revision,
): Promise<Baseline> {
  const doesNotApply = await readList(`${folder}/fixtures.yml`, revision)
  if (server === 'fixtures') return { needsFixture: [], doesNotApply }
  return { needsFixture: await readList(`${folder}/product.yml`, revision), doesNotApply }
}

/** The same in the suite's own form. */
export function suiteBaseline({ needsFixture, doesNotApply }: Baseline): string {
  return JSON.stringify({ server: [...needsFixture, ...doesNotApply] })
}

async function readList(path: string, revision: Revision): Promise<readonly string[]> {
  const lists = parse(await readFile(path, 'utf8')) as Record<string, unknown>
  const list = lists[revision]
  const isList = Array.isArray(list) && list.every((name) => typeof name === 'string')
  if (!isList) throw new Error(`${path} has no list of scenarios for ${revision}`)
  return list
}
