import type { Command } from 'commander'
import type { Config } from '../config.js'
import type { ControlStore } from '../control/store/store.js'
import { periodsBetween, usageReport } from '../control/usage-report.js'
import type { UsageLine } from '../control/usage-report.js'
import { laterPeriods, moveLaterUsage, periodOf } from '../control/usage.js'
import { badRequest } from '../errors.js'
import { planOf } from '../registry/registry.js'
import type { Registry } from '../registry/registry.js'
import { addPrinted } from './command.js'
import type { Flags, Result } from './command.js'
import type { CliParts } from './parts.js'
import { count } from './print.js'
import { listLines, recordOf, reportCsv } from './table.js'
import { registryIfReadable } from './read-registry.js'
import { readFilledStore, storeName, withFilledStore } from './state.js'

type UsageFlags = Flags & {
  readonly subscription?: string
  readonly month?: string
  readonly since?: string
  readonly repair?: boolean
  readonly yes?: boolean
}

interface PlannedLine extends UsageLine {
  /** Of the plan in today's registry; null when the plan left the registry. */
  readonly rowsPerMonth: number | null
}

const monthsMax = 120

/** `das usage`: used rows by month, subscription and dataset, for invoices. */
export function addUsage(program: Command, parts: CliParts): void {
  addPrinted(program, parts, {
    usage: 'usage',
    description: 'Show used rows by month, subscription and dataset.',
    options: (each) =>
      each
        .option('--subscription <id>', 'show only this subscription')
        .option('--month <YYYY-MM>', 'show this month (UTC, default: the current one)')
        .option('--since <YYYY-MM>', 'show all months from this one to the current one')
        .option('--csv', 'print CSV, one line for each month, subscription and dataset')
        .option(
          '--repair',
          'move rows from later months to the current one, after the clock was ahead, and print ' +
            'them',
        )
        .option('--yes', 'with --repair: also move rows from more than one later month'),
    settings: ['registry', 'state'],
    json: 'print [{month, subscription, email, dataset, plan, rows, rows_per_month}]',
    examples: [
      'das usage',
      'das usage --month 2026-10 --csv > october.csv',
      'das usage --since 2026-01 --subscription sub_0123456789abcdef',
      'das usage --repair',
    ],
    run: (config, flags: UsageFlags) =>
      flags.repair ? repair(parts, config.state, flags) : show(parts, config, flags),
  })
}

async function show(
  parts: CliParts,
  config: Pick<Config, 'registry' | 'state'>,
  flags: UsageFlags,
): Promise<Result> {
  const periods = readPeriods(flags, periodOf(parts.clock.now()))
  const registry = await registryIfReadable(parts, config.registry)
  const lines = await readFilledStore(parts, config.state, async (store) => {
    const later = await laterUsage(store, parts, flags)
    if (later.length > 0) parts.stderr.write(`${laterText(later, periodOf(parts.clock.now()))}\n`)
    const shown = new Set(periods)
    const added = flags.month === undefined ? later : []
    return [
      ...(await usageReport(store, periods, flags.subscription)),
      ...added.filter(({ period }) => !shown.has(period)),
    ]
  })
  const planned = lines.map((line) => withPlan(registry, line))
  return {
    json: planned.map((each) => recordOf(csvColumns, each)),
    csv: reportCsv(planned, csvColumns),
    lines: usageLines(parts, planned, config.state),
  }
}

/** Usage in later months. No invoice has it, so the owner must know. */
async function laterUsage(
  store: ControlStore,
  parts: CliParts,
  { subscription }: UsageFlags,
): Promise<readonly UsageLine[]> {
  const periods = await laterPeriods(store, periodOf(parts.clock.now()))
  return (await usageReport(store, periods, subscription)).filter(({ rows }) => rows > 0)
}

function laterText(later: readonly UsageLine[], current: string): string {
  const rows = later.reduce((sum, each) => sum + each.rows, 0)
  const months = [...new Set(later.map(({ period }) => period))].join(', ')
  return (
    `warning: ${rows} rows are counted in ${months}, but the clock of this machine ` +
    `says ${current}. If the clock is wrong, correct it. Then das usage --repair moves the rows ` +
    'to the current month.'
  )
}

/** @throws bad_request for an invalid month, or for too many months */
function readPeriods({ month, since }: UsageFlags, current: string): readonly string[] {
  if (month !== undefined && since !== undefined) {
    throw badRequest('Use --month or --since, not both.')
  }
  if (month !== undefined) return [readPeriod(month, '--month')]
  if (since === undefined) return [current]
  const periods = periodsBetween(readPeriod(since, '--since'), current)
  if (periods.length === 0) throw badRequest(`--since must not be in the future, got "${since}".`)
  if (periods.length <= monthsMax) return periods
  throw badRequest(`--since must be at most ${monthsMax} months ago, got "${since}".`)
}

function readPeriod(text: string, option: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw badRequest(`${option} must be a month, such as 2026-11, got "${text}".`)
}

function withPlan(registry: Registry | null, line: UsageLine): PlannedLine {
  const { dataset, plan } = line
  const found = plan === null ? undefined : planOf(registry, { dataset, plan })
  return {
    ...line,
    rowsPerMonth: found?.rowsPerMonth ?? null,
  }
}

/** The columns of the CSV, and the keys in JSON. */
const csvColumns = {
  month: (each: PlannedLine) => each.period,
  subscription: (each: PlannedLine) => each.subscriptionId,
  email: (each: PlannedLine) => each.email,
  dataset: (each: PlannedLine) => each.dataset,
  plan: (each: PlannedLine) => each.plan,
  rows: (each: PlannedLine) => each.rows,
  rows_per_month: (each: PlannedLine) => each.rowsPerMonth,
}

function usageLines(
  parts: CliParts,
  lines: readonly PlannedLine[],
  state: string,
): readonly string[] {
  if (lines.length === 0) {
    return [`${storeName(parts, state)} has no grants and no usage in this time.`]
  }
  const total = lines.reduce((sum, { rows: used }) => sum + used, 0)
  return [
    ...listLines(parts.stdout, lines, {
      MONTH: (each) => each.period,
      SUBSCRIPTION: (each) => each.subscriptionId,
      'E-MAIL': (each) => each.email,
      DATASET: (each) => each.dataset,
      PLAN: (each) => each.plan,
      USED: (each) => each.rows,
      OF: (each) => each.rowsPerMonth,
      'USED %': ({ rows, rowsPerMonth }) =>
        rowsPerMonth === null ? null : Math.floor((rows / rowsPerMonth) * 100),
    }),
    ...(parts.stdout.isTTY ? [`Total: ${count(parts.stdout, total)} rows.`] : []),
  ]
}

/** @throws bad_request together with options that select rows */
async function repair(parts: CliParts, state: string, flags: UsageFlags): Promise<Result> {
  if (flags.subscription ?? flags.month ?? flags.since ?? flags.csv) {
    throw badRequest(
      '--repair moves rows of all subscriptions and months. Use it without --subscription, ' +
        '--month, --since and --csv.',
    )
  }
  const period = periodOf(parts.clock.now())
  const moved = await withFilledStore(parts, state, async (store) => {
    if (!flags.yes) refuseClockBehind(await laterPeriods(store, period), period)
    return await moveLaterUsage(store, period, parts.clock.now())
  })
  const lines = listLines(parts.stdout, moved, {
    SUBSCRIPTION: (each) => each.subscriptionId,
    MONTH: (each) => each.period,
    DATASET: (each) => each.dataset,
    ROWS: (each) => each.rows,
  })
  return {
    json: moved.map(({ subscriptionId, period: month, ...rest }) => ({
      subscription: subscriptionId,
      month,
      ...rest,
    })),
    lines:
      moved.length > 0
        ? [`Now counted in ${period}:`, ...lines]
        : [`Nothing to repair: no usage is counted after ${period}.`],
  }
}

/**
 * A clock that was reset to its first year would make every month a later month.
 * @throws bad_request when rows are counted in more than one later month
 */
function refuseClockBehind(later: readonly string[], period: string): void {
  if (later.length <= 1) return
  throw badRequest(
    `The clock of this machine says ${period}, but rows are counted in ${later.length} later ` +
      `months, up to ${later.at(-1)}: the clock is probably behind. Correct it. If it is right, ` +
      'add --yes.',
  )
}
