import type { Command } from 'commander'
import { readRegistry } from '../catalog/catalog.js'
import { quoted } from '../catalog/nearest.js'
import { priceRub } from '../catalog/price.js'
import type { Plan, Registry } from '../catalog/registry.js'
import { createSubscription } from '../control/subscriptions.js'
import type { NewSubscription } from '../control/subscriptions.js'
import { badRequest } from '../errors.js'
import { addCommand, collect, readSettings } from './command.js'
import type { Flags, SettingName } from './command.js'
import { baseUrl, curlCommand, examplePath } from './example.js'
import type { CliParts } from './parts.js'
import { day, count, isoTime, printJson, printLines, tableLines } from './print.js'
import { findPlan } from './registry.js'
import { withStore } from './state.js'

type CreateFlags = Flags & {
  readonly email: string
  readonly plan: readonly string[]
  readonly months: string
  readonly globalRows?: string
}

interface OrderedGrant {
  readonly dataset: string
  readonly plan: Plan
}

interface Order {
  readonly email: string
  readonly grants: readonly OrderedGrant[]
  readonly months: number
  readonly globalRows: number | null
}

const settingNames = ['registry', 'state', 'host', 'port', 'publicUrl', 'mailLanguage'] as const

/** `das subscription create`: sells access and prints the token, the one time that it is shown. */
export function addSubscriptionCreate(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'create',
    description: 'Make a subscription and its token, which is printed once and works at once.',
    options: (command) =>
      command
        .requiredOption('--email <address>', 'the subscriber, known by e-mail')
        .requiredOption(
          '--plan <dataset:plan>',
          'a dataset under one of its plans; may be repeated',
          collect,
        )
        .option('--months <number>', '1 to 120; a year is 12 months at the price of 10', '1')
        .option('--global-rows <number>', 'rows a month over all datasets together'),
    settings: settingNames,
    json: 'print {subscription, token, expires_at, grants, price_rub, mailed}',
    examples: [
      'das subscription create --email buyer@example.org --plan financials:pro --months 12',
      'das subscription create --email buyer@example.org --plan financials:pro \\\n' +
        '      --plan procurement:start --global-rows 100000',
    ],
  }).action((flags: CreateFlags) => create(parts, flags))
}

async function create(parts: CliParts, flags: CreateFlags): Promise<void> {
  const config = readSettings<SettingName>(settingNames, flags, parts.environment)
  const registry = await readRegistry(config.registry)
  const order = readOrder(registry, flags)
  const grants = order.grants.map(({ dataset, plan }) => ({ dataset, plan: plan.name }))
  const price = priceRub(
    order.grants.map(({ plan }) => plan),
    order.months,
  )
  const made = withStore(config.state, (store) =>
    createSubscription(store, {
      ...order,
      grants,
      priceRub: price,
      language: config.mailLanguage,
      now: parts.now,
    }),
  )
  if (flags.json) {
    printJson(parts, {
      subscription: made.subscriptionId,
      token: made.token,
      expires_at: isoTime(made.expiresAt),
      grants,
      price_rub: price,
      mailed: false,
    })
    return
  }
  const path = examplePath(registry, grants[0]?.dataset ?? '', [])
  const curl = curlCommand(baseUrl(config) + path, made.token)
  printLines(parts, ...summaryLines(parts, order, made, price), '', 'Try it:', '', curl)
}

/** @throws bad_request saying what to correct */
function readOrder(registry: Registry, flags: CreateFlags): Order {
  return {
    email: flags.email,
    grants: flags.plan.map((text) => readGrant(registry, text)),
    months: readWhole(flags.months, '--months'),
    globalRows:
      flags.globalRows === undefined ? null : readWhole(flags.globalRows, '--global-rows'),
  }
}

function readGrant(registry: Registry, text: string): OrderedGrant {
  const [dataset, name, ...rest] = text.split(':')
  if (!dataset || !name || rest.length > 0) {
    throw badRequest(
      `--plan ${quoted(text)}: write it as DATASET:PLAN, for example financials:pro.`,
    )
  }
  return { dataset, plan: findPlan(registry, dataset, name) }
}

function readWhole(text: string, option: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw badRequest(`${option}: ${quoted(text)} is no whole number.`)
}

function summaryLines(
  parts: CliParts,
  { email, grants, months, globalRows }: Order,
  made: NewSubscription,
  price: number,
): readonly string[] {
  const table = tableLines(
    parts.stdout,
    ['DATASET', 'PLAN', 'ROWS A MONTH', 'HISTORY', 'RUB A MONTH'],
    grants.map(({ dataset, plan }) => [
      dataset,
      plan.name,
      plan.rowsPerMonth,
      historyText(plan),
      plan.priceRub,
    ]),
  )
  const cap =
    globalRows === null
      ? []
      : [`Over all datasets: ${count(parts.stdout, globalRows)} rows a month.`]
  const year = months >= 12 ? ' (a year is 12 months at the price of 10)' : ''
  return [
    `Subscription ${made.subscriptionId} of ${email}, expires ${day(made.expiresAt)}`,
    '',
    ...table,
    ...cap,
    `Price: ${count(parts.stdout, price)} RUB for ${months === 1 ? '1 month' : `${months} months`}${year}`,
    '',
    'The token; copy it now, it is shown once:',
    '',
    made.token,
  ]
}

function historyText({ history }: Plan): string {
  if (history === 'all') return 'all'
  return history === 1 ? 'latest year' : `latest ${history} years`
}
