import type { Command } from 'commander'
import type { Config } from '../config.js'
import { readReport, reports } from '../sales/owner/reports.js'
import type { ReportName } from '../sales/owner/reports.js'
import { addGroup, addPrinted } from './command.js'
import type { Result } from './command.js'
import type { CliParts } from './parts.js'
import { registryIfReadable } from './read-registry.js'
import { readFilledStore } from './state.js'
import { linesOrNone, reportCsv } from './table.js'

const descriptions: readonly (readonly [ReportName, string])[] = [
  ['revenue', 'Show what was sold in each month (UTC), newest first.'],
  ['expiring', 'Show the subscriptions that end within 30 days, the next one first.'],
  ['usage', 'Show the rows that subscriptions used this month, the largest share first.'],
  ['refusals', 'Show the refused requests of the last 30 days by error code.'],
  ['orders', 'Show the orders of the portal with a price, in each of the last 12 weeks.'],
]

/** `das report …`: what the owner's page shows. */
export function addReport(program: Command, parts: CliParts): void {
  const about = "Revenue, ends, usage, refusals and orders, as on the owner's page."
  const group = addGroup(program, 'report', about, 'das report revenue')
  for (const [name, description] of descriptions) {
    addPrinted(group, parts, {
      usage: name,
      description,
      options: (command) => command.option('--csv', 'print CSV'),
      settings: ['registry', 'state'],
      json: `print [{${reports[name].columns.join(', ')}}]`,
      examples: [`das report ${name}`, `das report ${name} --csv > ${name}.csv`],
      run: (config) => show(parts, config, name),
    })
  }
}

async function show(
  parts: CliParts,
  config: Pick<Config, 'registry' | 'state'>,
  name: ReportName,
): Promise<Result> {
  const registry = await registryIfReadable(parts, config.registry)
  const lines = await readFilledStore(parts, config.state, (store) =>
    readReport(name, { store, registry: () => registry, now: parts.clock.now }),
  )
  const columns = (titleOf: (column: string) => string) =>
    Object.fromEntries(
      reports[name].columns.map((column) => {
        const cell = (line: (typeof lines)[number]) => line[column] ?? null
        return [titleOf(column), cell]
      }),
    )
  return {
    json: lines,
    csv: reportCsv(
      lines,
      columns((column) => column),
    ),
    lines: linesOrNone(
      parts.stdout,
      lines,
      'Nothing yet.',
      columns((column) => column.toUpperCase().replaceAll('_', ' ')),
    ),
  }
}
