import type { Command } from 'commander'
import type { Grant } from '../../control/grants.js'
import { badRequest } from '../../errors.js'
import { priceRub } from '../../registry/price.js'
import type { Plan, Registry } from '../../registry/registry.js'
import { quoted } from '../../text.js'
import type { CliParts } from '../parts.js'
import { count, tableLines } from '../print.js'
import { findPlan } from '../read-registry.js'

export interface PlannedGrant {
  readonly dataset: string
  readonly plan: Plan
}

/** A dataset and its plan out of `DATASET:PLAN`. @throws bad_request saying what to correct */
export function readGrant(registry: Registry, text: string): PlannedGrant {
  const [dataset, name, ...rest] = text.split(':')
  if (!dataset || !name || rest.length > 0) {
    throw badRequest(
      `--plan ${quoted(text)}: write it as DATASET:PLAN, for example financials:pro.`,
    )
  }
  return { dataset, plan: findPlan(registry, dataset, name) }
}

/** A whole number of up to 15 digits. @throws bad_request naming the option */
export function readWhole(text: string, option: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw badRequest(`${option}: ${quoted(text)} is no whole number.`)
}

/** Adds `--months` to a command that sells time. */
export function addMonthsOption(command: Command): Command {
  return command.option(
    '--months <number>',
    '1 to 120; a year is 12 months at the price of 10',
    '1',
  )
}

/** The plans of stored grants. @throws bad_request for one that the registry has no more */
export function plansOfGrants(
  registry: Registry,
  grants: readonly Grant[],
): readonly PlannedGrant[] {
  return grants.map(({ dataset, plan }) => ({ dataset, plan: findPlan(registry, dataset, plan) }))
}

/** What grants cost together for these months, in whole roubles. */
export function priceOf(grants: readonly PlannedGrant[], months: number): number {
  return priceRub(
    grants.map(({ plan }) => plan),
    months,
  )
}

/** Grants and the cap over them, for people. */
export function planLines(
  { stdout }: CliParts,
  grants: readonly PlannedGrant[],
  globalRows: number | null,
): readonly string[] {
  const titles = ['DATASET', 'PLAN', 'ROWS A MONTH', 'HISTORY', 'RUB A MONTH']
  const rows = grants.map(({ dataset, plan }) => [
    dataset,
    plan.name,
    plan.rowsPerMonth,
    historyText(plan),
    plan.priceRub,
  ])
  const cap =
    globalRows === null ? [] : [`Over all datasets: ${count(stdout, globalRows)} rows a month.`]
  return [...tableLines(stdout, titles, rows), ...cap]
}

/** The price of some months, for people. */
export function priceLine({ stdout }: CliParts, price: number, months: number): string {
  const year = months >= 12 ? ' (a year is 12 months at the price of 10)' : ''
  return `Price: ${count(stdout, price)} RUB for ${months === 1 ? '1 month' : `${months} months`}${year}`
}

function historyText({ history }: Plan): string {
  if (history === 'all') return 'all'
  return history === 1 ? 'latest year' : `latest ${history} years`
}
