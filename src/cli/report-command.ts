import type { Command } from 'commander'
import type { Config } from '../config.js'
import {
  expiringReport,
  ordersReport,
  refusalsReport,
  revenueReport,
  usageReport,
} from '../sales/owner/reports.js'
import type { ReportParts } from '../sales/owner/reports.js'
import { isoTime } from '../text.js'
import { addGroup, addPrinted } from './command.js'
import type { Result } from './command.js'
import type { CliParts } from './parts.js'
import { day } from './print.js'
import { registryIfReadable } from './read-registry.js'
import { readFilledStore } from './state.js'
import { grantsText } from './subscription/plan-options.js'
import { linesOrNone, recordOf, reportCsv } from './table.js'
import type { Columns } from './table.js'

interface ReportDefinition<Line> {
  readonly name: string
  readonly description: string
  readonly json: string
  readonly read: (parts: ReportParts) => Promise<readonly Line[]>
  /** The keys in JSON, and the columns of CSV and the table. */
  readonly columns: Columns<Line>
}

/** `das report …`: what the owner's page shows. */
export function addReport(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'report',
    "Revenue, ends, usage, refusals and orders, as on the owner's page.",
    'das report revenue',
  )
  addOne(group, parts, {
    name: 'revenue',
    description: 'Show what was sold in each month (UTC), newest first.',
    json: 'print [{month, orders, amount_rub}]',
    read: revenueReport,
    columns: {
      month: ({ month }) => month,
      orders: ({ orders }) => orders,
      amount_rub: ({ amountRub }) => amountRub,
    },
  })
  addOne(group, parts, {
    name: 'expiring',
    description: 'Show the subscriptions that end within 30 days, the next one first.',
    json: 'print [{subscription, email, expires_at, grants}]',
    read: expiringReport,
    columns: {
      subscription: ({ subscriptionId }) => subscriptionId,
      email: ({ email }) => email,
      expires_at: ({ expiresAt }) => isoTime(expiresAt),
      grants: ({ grants }) => grantsText(grants),
    },
  })
  addOne(group, parts, {
    name: 'usage',
    description: 'Show the rows that each subscription used this month, the largest share first.',
    json: 'print [{subscription, email, dataset, plan, rows, limit, share}]',
    read: usageReport,
    columns: {
      subscription: ({ subscriptionId }) => subscriptionId,
      email: ({ email }) => email,
      dataset: ({ dataset }) => dataset,
      plan: ({ plan }) => plan,
      rows: ({ rows }) => rows,
      limit: ({ limit }) => limit,
      share: ({ share }) => share,
    },
  })
  addOne(group, parts, {
    name: 'refusals',
    description: 'Show the refused requests of the last 30 days by error code.',
    json: 'print [{error, status, requests}]',
    read: refusalsReport,
    columns: {
      error: ({ error }) => error,
      status: ({ status }) => status,
      requests: ({ requests }) => requests,
    },
  })
  addOne(group, parts, {
    name: 'orders',
    description: 'Show the priced orders of the portal in each of the last 12 weeks.',
    json: 'print [{week, placed, paid, declined}], each week by its Monday (UTC)',
    read: ordersReport,
    columns: {
      week: ({ week }) => day(week),
      placed: ({ placed }) => placed,
      paid: ({ paid }) => paid,
      declined: ({ declined }) => declined,
    },
  })
}

function addOne<Line>(
  group: Command,
  parts: CliParts,
  { name, description, json, read, columns }: ReportDefinition<Line>,
): void {
  addPrinted(group, parts, {
    usage: name,
    description,
    options: (command) => command.option('--csv', 'print CSV'),
    settings: ['registry', 'state'],
    json,
    examples: [`das report ${name}`, `das report ${name} --csv > ${name}.csv`],
    run: async (config: Pick<Config, 'registry' | 'state'>): Promise<Result> => {
      const registry = await registryIfReadable(parts, config.registry)
      const { now } = parts.clock
      const lines = await readFilledStore(parts, config.state, (store) =>
        read({ store, registry: () => registry, now }),
      )
      const titled = Object.entries(columns).map(
        ([title, cell]) => [title.toUpperCase().replace('_', ' '), cell] as const,
      )
      return {
        json: lines.map((line) => recordOf(columns, line)),
        csv: reportCsv(lines, columns),
        lines: linesOrNone(parts.stdout, lines, 'Nothing yet.', Object.fromEntries(titled)),
      }
    },
  })
}
