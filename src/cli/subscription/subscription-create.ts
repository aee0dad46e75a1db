import type { Command } from 'commander'
import { readRegistry } from '../../catalog.js'
import type { Language } from '../../config.js'
import type { ControlStore } from '../../control/store/store.js'
import { createSubscription } from '../../control/subscriptions.js'
import type { NewSubscription } from '../../control/subscriptions.js'
import type { Registry } from '../../registry/registry.js'
import { curlCommand } from '../../service/client-texts.js'
import { examplePath } from '../../service/first-questions.js'
import { isoTime } from '../../text.js'
import { addCommand, collect, readSettings } from '../command.js'
import {
  issueWithLetter,
  mailSettingNames,
  mailToken,
  noMailFlag,
  readMailing,
} from '../mailing.js'
import type { MailConfig, MailFlags, Mailing } from '../mailing.js'
import type { CliParts } from '../parts.js'
import { day, printJson, printLines } from '../print.js'
import { linkBase } from '../server-address.js'
import { withStore } from '../state.js'
import {
  addMonthsOption,
  planLines,
  priceLine,
  priceOf,
  readGrant,
  readWhole,
} from './plan-options.js'
import type { PlannedGrant } from './plan-options.js'

type CreateFlags = MailFlags & {
  readonly email: string
  readonly plan: readonly string[]
  readonly months: string
  readonly globalRows?: string
}

type CreateConfig = MailConfig & { readonly mailLanguage: Language }

interface Sale {
  readonly email: string
  readonly grants: readonly PlannedGrant[]
  readonly months: number
  readonly globalRows: number | null
}

const settingNames = [...mailSettingNames, 'mailLanguage'] as const

/** `das subscription create`: sells access, prints the token once and mails it. */
export function addSubscriptionCreate(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'create',
    description: 'Make a subscription. Its token is printed once, is mailed and works at once.',
    options: (command) =>
      addMonthsOption(command)
        .requiredOption('--email <address>', 'e-mail address of the subscriber')
        .requiredOption('--plan <dataset:plan>', 'dataset and plan; may be repeated', collect)
        .option('--global-rows <number>', 'limit of rows a month over all datasets together')
        .option(...noMailFlag),
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
  const config = readSettings(settingNames, flags, parts.environment)
  const mailing = readMailing(config, flags)
  const registry = await readRegistry(config.registry)
  const sale = readSale(registry, flags)
  const sold = await sell(parts, config, mailing, sale)
  if (!flags.json) {
    const path = examplePath(registry, sale.grants[0]?.dataset ?? '', [])
    const curl = curlCommand(linkBase(config, flags, parts.environment) + path, sold.token)
    printLines(parts, ...summaryLines(parts, sale, sold), '', 'Try it:', '', curl)
  }
  const { letter } = sold
  const mailed = await mailToken(parts, config, flags, { letter, email: sale.email })
  if (!flags.json) return
  printJson(parts, {
    subscription: sold.subscriptionId,
    token: sold.token,
    expires_at: isoTime(sold.expiresAt),
    grants: sold.grants,
    price_rub: sold.priceRub,
    mailed,
  })
}

/** Stores the sale, and the letter with the token. */
function sell(parts: CliParts, config: CreateConfig, mailing: Mailing, sale: Sale) {
  const { clock } = parts
  const { state: stateFolder, mailLanguage: language } = config
  const grants = sale.grants.map(({ dataset, plan }) => ({ dataset, plan: plan.name }))
  const priceRub = priceOf(sale.grants, sale.months)
  return withStore(parts, stateFolder, async (store) => {
    const sold = { ...sale, grants, priceRub, language, now: clock.now }
    const issue = (tx: ControlStore) => createSubscription(tx, sold)
    const issued = await issueWithLetter(store, {
      mailing,
      stateFolder,
      kind: 'new-token',
      clock,
      issue,
    })
    return { ...issued, priceRub }
  })
}

/** @throws bad_request that says what to correct */
function readSale(registry: Registry, flags: CreateFlags): Sale {
  return {
    email: flags.email,
    grants: flags.plan.map((text) => readGrant(registry, text)),
    months: readWhole(flags.months, '--months'),
    globalRows:
      flags.globalRows === undefined ? null : readWhole(flags.globalRows, '--global-rows'),
  }
}

function summaryLines(
  parts: CliParts,
  { email, grants, months, globalRows }: Sale,
  made: NewSubscription & { readonly priceRub: number },
): readonly string[] {
  return [
    `Subscription ${made.subscriptionId} of ${email}, expires ${day(made.expiresAt)}`,
    '',
    ...planLines(parts, grants, globalRows),
    priceLine(parts, made.priceRub, months),
    '',
    'Copy the token now: it is shown only once.',
    '',
    made.token,
  ]
}
