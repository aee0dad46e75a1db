import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ControlStore } from '../control/store/store.js'
import { periodsBetween, usageReport } from '../control/usage-report.js'
import type { UsageLine } from '../control/usage-report.js'
import { laterPeriods, moveLaterUsage, periodOf } from '../control/usage.js'
import { badRequest } from '../errors.js'
import { planOf } from '../registry/registry.js'
import type { Registry } from '../registry/registry.js'
import { addCommand, readSettings } from './command.js'
import type { Flags } from './command.js'
import { csvLines } from './csv.js'
import type { CliParts } from './parts.js'
import { count, printJson, printLines, tableLines } from './print.js'
import { registryIfReadable } from './read-registry.js'
import { readFilledStore, withFilledStore } from './state.js'

type UsageFlags = Flags & {
  readonly subscription?: string
  readonly month?: string
  readonly since?: string
  readonly csv?: boolean
  readonly repair?: boolean
  readonly yes?: boolean
}

interface PlannedLine extends UsageLine {
  /** Of the plan as the registry has it now; null where it has no such plan. */
  readonly rowsPerMonth: number | null
}

const monthsMax = 120

/** `das usage`: rows by month, subscription and dataset, to look at and to invoice by. */
export function addUsage(program: Command, parts: CliParts): void {
  addCommand(program, {
    usage: 'usage',
    description: 'Show the rows that were used, by month, subscription and dataset.',
    options: (each) =>
      each
        .option('--subscription <id>', 'this one only')
        .option('--month <YYYY-MM>', 'this month (UTC); the current one when not given')
        .option('--since <YYYY-MM>', 'all months from this one to the current one')
        .option('--csv', 'print CSV, a line for each month, subscription and dataset')
        .option(
          '--repair',
          'after a clock that ran ahead: add the rows that are counted in later months to the ' +
            'current one, by the clock as it is now, and print what was moved',
        )
        .option('--yes', 'with --repair: move rows of several later months, too'),
    settings: ['registry', 'state'],
    json: 'print [{month, subscription, email, dataset, plan, rows, rows_per_month}]',
    examples: [
      'das usage',
      'das usage --month 2026-10 --csv > october.csv',
      'das usage --since 2026-01 --subscription sub_0123456789abcdef',
      'das usage --repair',
    ],
  }).action((flags: UsageFlags) => (flags.repair ? repair(parts, flags) : show(parts, flags)))
}

async function show(parts: CliParts, flags: UsageFlags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  if (flags.csv && flags.json) throw badRequest('Take --csv or --json, not both.')
  const periods = readPeriods(flags, periodOf(parts.now()))
  const registry = await registryIfReadable(parts, config.registry)
  const lines = readFilledStore(config.state, (store) => {
    const later = laterUsage(store, parts, flags)
    if (later.length > 0) parts.stderr.write(`${laterText(later, periodOf(parts.now()))}\n`)
    const shown = new Set(periods)
    const added = flags.month === undefined ? later : []
    return [
      ...usageReport(store, periods, flags.subscription),
      ...added.filter(({ period }) => !shown.has(period)),
    ]
  })
  const planned = lines.map((line) => withPlan(registry, line))
  if (flags.json) printJson(parts, planned.map(usageJson))
  else if (flags.csv) printLines(parts, ...csvLines(csvTitles, planned.map(csvRow)))
  else printLines(parts, ...usageLines(parts, planned, config.state))
}

/** What is counted in months to come: it belongs to no invoice, and must not be overlooked. */
function laterUsage(
  store: ControlStore,
  parts: CliParts,
  { subscription }: UsageFlags,
): readonly UsageLine[] {
  const periods = laterPeriods(store, periodOf(parts.now()))
  return usageReport(store, periods, subscription).filter(({ rows }) => rows > 0)
}

function laterText(later: readonly UsageLine[], current: string): string {
  const rows = later.reduce((sum, each) => sum + each.rows, 0)
  return (
    `warning: ${rows} rows are counted in ${monthsText(later)}, after ${current}, the month by this ` +
    "machine's clock. Set the clock right if it is wrong; then das usage --repair counts them in " +
    'the present month.'
  )
}

function monthsText(later: readonly { readonly period: string }[]): string {
  return [...new Set(later.map(({ period }) => period))].join(', ')
}

/** @throws bad_request for what is no month, or too many of them */
function readPeriods({ month, since }: UsageFlags, current: string): readonly string[] {
  if (month !== undefined && since !== undefined) {
    throw badRequest('Take --month or --since, not both.')
  }
  if (month !== undefined) return [readPeriod(month, '--month')]
  if (since === undefined) return [current]
  const periods = periodsBetween(readPeriod(since, '--since'), current)
  if (periods.length === 0) throw badRequest(`--since: ${since} is still to come.`)
  if (periods.length <= monthsMax) return periods
  throw badRequest(`--since: at most ${monthsMax} months at once.`)
}

function readPeriod(text: string, option: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw badRequest(`${option}: "${text}" is no month, as 2026-11.`)
}

function withPlan(registry: Registry | null, line: UsageLine): PlannedLine {
  const { dataset, plan } = line
  const found = plan === null ? undefined : planOf(registry, { dataset, plan })
  return {
    ...line,
    rowsPerMonth: found?.rowsPerMonth ?? null,
  }
}

const csvTitles = ['month', 'subscription', 'email', 'dataset', 'plan', 'rows', 'rows_per_month']

function csvRow(line: PlannedLine) {
  return Object.values(usageJson(line))
}

/** In the order of `csvTitles`. */
function usageJson(line: PlannedLine) {
  return {
    month: line.period,
    subscription: line.subscriptionId,
    email: line.email,
    dataset: line.dataset,
    plan: line.plan,
    rows: line.rows,
    rows_per_month: line.rowsPerMonth,
  }
}

function usageLines(
  parts: CliParts,
  lines: readonly PlannedLine[],
  state: string,
): readonly string[] {
  if (lines.length === 0) return [`Nothing was granted or used then in ${resolve(state)}.`]
  const titles = ['MONTH', 'SUBSCRIPTION', 'E-MAIL', 'DATASET', 'PLAN', 'USED', 'OF', 'USED %']
  const rows = lines.map((line) => [
    line.period,
    line.subscriptionId,
    line.email,
    line.dataset,
    line.plan,
    line.rows,
    line.rowsPerMonth,
    line.rowsPerMonth === null ? null : Math.floor((line.rows / line.rowsPerMonth) * 100),
  ])
  const total = lines.reduce((sum, { rows: used }) => sum + used, 0)
  return [
    ...tableLines(parts.stdout, titles, rows),
    ...(parts.stdout.isTTY ? [`Together ${count(parts.stdout, total)} rows.`] : []),
  ]
}

/** @throws bad_request together with options that choose what to show */
function repair(parts: CliParts, flags: UsageFlags): void {
  const { state } = readSettings(['state'], flags, parts.environment)
  if (flags.subscription ?? flags.month ?? flags.since ?? flags.csv) {
    throw badRequest('--repair is for all subscriptions and months: take it alone.')
  }
  const period = periodOf(parts.now())
  const moved = withFilledStore(state, (store) => {
    if (!flags.yes) refuseClockBehind(laterPeriods(store, period), period)
    return moveLaterUsage(store, period)
  })
  if (flags.json) {
    const json = moved.map(({ subscriptionId, period: month, ...rest }) => ({
      subscription: subscriptionId,
      month,
      ...rest,
    }))
    printJson(parts, json)
    return
  }
  if (moved.length === 0) {
    printLines(parts, `Nothing to repair: no usage is counted after ${period}.`)
    return
  }
  const rows = moved.map((each) => [each.subscriptionId, each.period, each.dataset, each.rows])
  printLines(
    parts,
    `Now counted in ${period}:`,
    ...tableLines(parts.stdout, ['SUBSCRIPTION', 'MONTH', 'DATASET', 'ROWS'], rows),
  )
}

/**
 * A machine that lost its clock would move the usage of all months to the month of its birth.
 * @throws bad_request when rows are counted in more than one later month
 */
function refuseClockBehind(later: readonly string[], period: string): void {
  if (later.length <= 1) return
  throw badRequest(
    `By the clock it is ${period}, and rows are counted in ${later.length} later months, up to ` +
      `${later.at(-1)}: the clock looks as if it were behind. Set it right; if it is right, add --yes.`,
  )
}
