import { readFile } from 'node:fs/promises'
import { format } from 'prettier'
import { parse } from 'yaml'
import { markdownTable } from '../harness/report.js'
import type { Outcome, Revision } from './suite.js'

/**
 * What is known to fail, by the reason: scenarios, and single checks as `scenario:check`. All other
 * checks of such a scenario must pass.
 */
export interface Baseline {
  readonly needsFixture: readonly string[]
  readonly doesNotApply: readonly string[]
}

/** One run of the suite against one server, judged. */
export interface Judged {
  readonly server: keyof typeof titles
  /** The protocol's revision; null for scenarios that are the same in all of them. */
  readonly revision: Revision | null
  /** The suite's version. */
  readonly version: string
  /** What of the suite was run, as its command line names it. */
  readonly part: string
  readonly rows: readonly Row[]
}

interface Row {
  readonly scenario: string
  readonly result: Result
  readonly note: string | null
}

type Result = (typeof results)[number]

const results = ['passed', 'needs a fixture', 'does not apply', 'not scored'] as const

const titles = {
  product: 'The product',
  fixtures: 'Fixtures behind the same door',
  signIn: 'The sign-in',
}

/** What may fail against this server in this revision, from the lists in `test/mcp/conformance`. */
export async function readBaseline(
  server: 'product' | 'fixtures',
  revision: Revision,
): Promise<Baseline> {
  const doesNotApply = await readList(`test/mcp/conformance/fixtures.yml`, revision)
  if (server === 'fixtures') return { needsFixture: [], doesNotApply }
  return {
    needsFixture: await readList(`test/mcp/conformance/product.yml`, revision),
    doesNotApply,
  }
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

/** What is wrong with a run: unexpected failures, and expected ones that did not happen. */
export function complaintsOf(outcomes: readonly Outcome[], baseline: Baseline): readonly string[] {
  const expected = [...baseline.needsFixture, ...baseline.doesNotApply]
  const faults = outcomes
    .filter(({ isScored }) => isScored)
    .flatMap(({ scenario, faults }) =>
      faults.map(({ check, message }) => ({ names: [scenario, `${scenario}:${check}`], message })),
    )
  const unexpected = faults
    .filter(({ names }) => !names.some((name) => expected.includes(name)))
    .map(({ names, message }) => `${names.at(-1)} failed: ${message}`)
  const failed = new Set(faults.flatMap(({ names }) => names))
  const stale = expected
    .filter((entry) => !failed.has(entry))
    .map((entry) => `${entry} passed, or did not run: take it off its list`)
  const twice = expected
    .filter((entry, index) => expected.indexOf(entry) !== index)
    .map((entry) => `${entry} is listed twice`)
  return [...unexpected, ...stale, ...twice]
}

/** The rows of a run without complaints. */
export function rowsOf(outcomes: readonly Outcome[], baseline: Baseline): readonly Row[] {
  return outcomes.map((outcome) => ({ scenario: outcome.scenario, ...resultOf(outcome, baseline) }))
}

function resultOf(outcome: Outcome, baseline: Baseline): Omit<Row, 'scenario'> {
  const { scenario, faults, checksPassed, isScored } = outcome
  if (!isScored) {
    const note = faults.length > 0 ? 'failed' : checksPassed > 0 ? 'passed' : 'nothing checked'
    return { result: 'not scored', note }
  }
  if (faults.length === 0) return { result: 'passed', note: null }
  const checksOf = `${scenario}:`
  const names = (list: readonly string[]) =>
    list.some((entry) => entry === scenario || entry.startsWith(checksOf))
  const isPart = Object.values(baseline)
    .flat()
    .some((entry) => entry.startsWith(checksOf))
  return {
    result: names(baseline.needsFixture) ? 'needs a fixture' : 'does not apply',
    note: isPart ? `${faults.length} of its checks` : null,
  }
}

/** How many scenarios have which result. */
export function totals(rows: readonly Row[]): Readonly<Record<Result, number>> {
  const count = (wanted: Result) => rows.filter(({ result }) => result === wanted).length
  return Object.fromEntries(results.map((result) => [result, count(result)])) as Record<
    Result,
    number
  >
}

/** The whole page, from the suite's results alone: equal runs make the same page. */
export function conformancePage(runs: readonly Judged[]): Promise<string> {
  const parts = [
    '# MCP conformance',
    'What the official suite, `@modelcontextprotocol/conformance`, says of `/mcp` and of ' +
      'the [sign-in](sign-in.md). ' +
      '`npm run conformance` (after `npm run build`) writes this page; with `-- --check` it ' +
      'compares, and fails where the page and the suite disagree.',
    'The suite asks for tools, resources and prompts by name (`test_simple_text`, …), which the ' +
      'product does not have. So it runs twice in each revision: against the product, and against ' +
      'a test server that has them behind the same door, with the same transport, tokens and host ' +
      'checks. The sign-in of the product has scenarios of its own.',
    [
      '- **passed**: every check of the scenario holds.',
      '- **needs a fixture**: only the test server has what it asks for ' +
        '(`test/mcp/conformance/product.yml` lists these).',
      '- **does not apply**: it asks for what a stateless server that never streams does not do ' +
        '(`test/mcp/conformance/fixtures.yml` says why).',
      '- **not scored**: an extension, or unfinished in the suite; the revision does not ask for it.',
    ].join('\n'),
    '## Totals',
    markdownTable(
      ['server', 'protocol', 'suite', ...results],
      runs.map(({ server, revision, version, rows }) => [
        titles[server],
        revision ?? 'all',
        version,
        ...Object.values(totals(rows)).map(String),
      ]),
    ),
    '## What did not pass',
    'Every other scenario passed, or needs a fixture.',
    ...runs.flatMap(({ server, revision, part, rows }) => [
      `### ${titles[server]}${revision === null ? '' : `, MCP ${revision}`}`,
      `\`${part}\``,
      resultLists(rows),
    ]),
  ]
  return format(parts.join('\n\n'), { parser: 'markdown' })
}

/** The scenarios that do not apply or are not scored, one list for each. */
function resultLists(rows: readonly Row[]): string {
  const lines = results
    .filter((result) => result !== 'passed' && result !== 'needs a fixture')
    .flatMap((wanted) => {
      const names = rows
        .filter(({ result }) => result === wanted)
        .map(({ scenario, note }) => (note === null ? scenario : `${scenario} (${note})`))
      return names.length === 0 ? [] : [`- **${wanted}**: ${names.join(', ')}`]
    })
  return lines.length === 0 ? 'None.' : lines.join('\n')
}
