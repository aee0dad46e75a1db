import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { format, resolveConfig } from 'prettier'
import { UsageError } from '../harness/options.js'
import { system } from '../harness/process.js'
import { markdownTable } from '../harness/report.js'
import { sum } from '../harness/statistics.js'
import type { Outcome } from './step.js'

/** The page that says what the lists hold. */
export const pagePath = 'docs/checks.md'

/** The last section of the page. */
const heading = '## The last whole run'

/**
 * The commit of a tree without changes.
 * @throws UsageError where there are changes, which the commit does not name
 */
export async function requireClean(): Promise<string> {
  const changes = await system('git', 'status', '--porcelain')
  if (changes !== '') throw new UsageError(`--record needs a tree without changes:\n${changes}`)
  return (await system('git', 'rev-parse', '--short=12', 'HEAD')).trim()
}

/** Writes what a run of all steps found at the end of the page, in place of the run before. */
export async function recordRun(outcomes: readonly Outcome[], commit: string): Promise<void> {
  const page = await readFile(pagePath, 'utf8')
  const place = page.indexOf(`\n${heading}\n`)
  if (place === -1) throw new Error(`${pagePath} has no section "${heading.slice(3)}"`)
  const date = new Date().toISOString().slice(0, 10)
  const minutes = (sum(outcomes.map(({ seconds }) => seconds)) / 60).toFixed(0)
  const passed = outcomes.filter(({ result }) => result === 'passed').length
  const machine = `${availableParallelism()} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB`
  const rows = outcomes.map(({ step, seconds, result, note }) => [
    `\`${step.name}\``,
    (seconds / 60).toFixed(1),
    result === 'passed' ? result : `**${result}**: ${note.replaceAll('|', '\\|')}`,
  ])
  const parts = [
    page.slice(0, place).trimEnd(),
    heading,
    `${date}, commit \`${commit}\`, ${minutes} minutes on ${machine}: ${passed} of ` +
      `${outcomes.length} steps passed.`,
    markdownTable(['Step', 'Minutes', 'Result'], rows),
  ]
  const config = await resolveConfig(pagePath)
  await writeFile(pagePath, await format(parts.join('\n\n'), { ...config, filepath: pagePath }))
}
