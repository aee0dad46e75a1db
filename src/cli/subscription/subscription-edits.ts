import type { Command } from 'commander'
import { readRegistry } from '../../catalog.js'
import type { Language } from '../../config.js'
import type { Grant } from '../../control/grants.js'
import {
  cancelSubscription,
  changeSubscription,
  extendSubscription,
} from '../../control/subscription-changes.js'
import type { SubscriptionChange } from '../../control/subscription-changes.js'
import { showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { isAlive, listTokens } from '../../control/tokens/tokens.js'
import { periodEnd, periodOf, readUsage } from '../../control/usage.js'
import type { Usage } from '../../control/usage.js'
import { badRequest } from '../../errors.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { addCommand, collect, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { count, day, printJson, printLines } from '../print.js'
import { withFilledStore } from '../state.js'
import {
  addMonthsOption,
  planLines,
  plansOfGrants,
  priceLine,
  priceOf,
  readGrant,
  readWhole,
} from './plan-options.js'
import { subscriptionJson } from './subscription-json.js'

type ExtendFlags = Flags & { readonly months: string }

type ChangeFlags = Flags & {
  readonly plan?: readonly string[]
  readonly withdraw?: readonly string[]
  readonly globalRows?: string
  readonly email?: string
  readonly language?: string
}

/** `das subscription extend|change|cancel`: what becomes of a subscription after it was sold. */
export function addSubscriptionChanges(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'extend <subscription>',
    description: 'Add paid months; one that expired lives again, and its tokens with it.',
    options: addMonthsOption,
    settings: ['registry', 'state'],
    json: 'print {subscription, expires_at, …, price_rub}',
    examples: ['das subscription extend sub_0123456789abcdef --months 12'],
  }).action((id: string, flags: ExtendFlags) => extend(parts, id, flags))
  addCommand(group, {
    usage: 'change <subscription>',
    description:
      "Change plans, datasets, the common cap or the subscriber, at once; this month's usage stays.",
    options: (command) =>
      command
        .option('--plan <dataset:plan>', 'give a dataset this plan; may be repeated', collect)
        .option('--withdraw <dataset>', 'take a dataset out; may be repeated', collect)
        .option('--global-rows <number>', 'rows a month over all datasets together, or none')
        .option('--email <address>', 'the subscriber, from now on')
        .option('--language <en|ru>', 'of letters to the subscriber'),
    settings: ['registry', 'state'],
    json: 'print {subscription, grants, …, price_rub_per_month: {before, after}}',
    examples: [
      'das subscription change sub_0123456789abcdef --plan financials:pro',
      'das subscription change sub_0123456789abcdef --withdraw procurement --global-rows none',
      'das subscription change sub_0123456789abcdef --email new@example.org',
    ],
  }).action((id: string, flags: ChangeFlags) => change(parts, id, flags))
  addCommand(group, {
    usage: 'cancel <subscription>',
    description: 'End a subscription for good, from the next request on; an extension is refused.',
    settings: ['state'],
    json: 'print {subscription, cancelled_at, …}',
    examples: ['das subscription cancel sub_0123456789abcdef'],
  }).action((id: string, flags: Flags) => {
    cancel(parts, id, flags)
  })
}

async function extend(parts: CliParts, id: string, flags: ExtendFlags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  const registry = await readRegistry(config.registry)
  const months = readWhole(flags.months, '--months')
  const now = parts.now()
  const priceRub = (grants: readonly Grant[]) => priceOf(plansOfGrants(registry, grants), months)
  const { before, after, hasToken } = withFilledStore(config.state, (store) =>
    store.write(() => ({
      before: showSubscription(store, id),
      after: extendSubscription(store, id, { months, priceRub, now: parts.now }),
      hasToken: listTokens(store, id).some((token) => isAlive(token, now)),
    })),
  )
  if (flags.json) {
    printJson(parts, { ...subscriptionJson(after), price_rub: after.priceRub })
    return
  }
  const revived = before.expiresAt <= now && hasToken ? ['Its tokens work again.'] : []
  const lost = hasToken ? [] : [`It has no token that works: das token reissue ${id}`]
  printLines(
    parts,
    `Subscription ${id} of ${after.email}, expires ${day(after.expiresAt)} (before: ${day(before.expiresAt)})`,
    priceLine(parts, after.priceRub, months),
    ...revived,
    ...lost,
  )
}

async function change(parts: CliParts, id: string, flags: ChangeFlags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  const registry = await readRegistry(config.registry)
  const wanted = readChange(registry, flags)
  const { before, after, usage } = withFilledStore(config.state, (store) =>
    store.write(() => ({
      before: showSubscription(store, id),
      after: changeSubscription(store, id, { ...wanted, now: parts.now }),
      usage: readUsage(store, id, periodOf(parts.now())),
    })),
  )
  const prices = { before: monthly(registry, before), after: monthly(registry, after) }
  if (flags.json) {
    printJson(parts, { ...subscriptionJson(after), price_rub_per_month: prices })
    return
  }
  const rub = (price: number | null) =>
    price === null ? 'unknown' : `${count(parts.stdout, price)} RUB`
  printLines(
    parts,
    `Subscription ${id} of ${after.email}, expires ${day(after.expiresAt)} as before`,
    '',
    ...planLines(parts, knownGrants(registry, after), after.globalRows),
    `A month costs ${rub(prices.after)}; before: ${rub(prices.before)}.`,
    ...(prices.after === prices.before ? [] : [settleText]),
    ...usedUpLines(parts, registry, after, usage),
  )
}

const settleText =
  'What was paid ahead was paid at the earlier price: the difference is yours to settle.'

/** @throws bad_request for a change that says nothing, or can't be read */
function readChange(registry: Registry, flags: ChangeFlags): Omit<SubscriptionChange, 'now'> {
  const { plan = [], withdraw = [], globalRows, email, language } = flags
  if (plan.length + withdraw.length === 0 && !(globalRows ?? email ?? language)) {
    throw badRequest(
      'Say what to change: --plan DATASET:PLAN, --withdraw DATASET, --global-rows N, --email A, ' +
        '--language L.',
    )
  }
  const grants = plan
    .map((text) => readGrant(registry, text))
    .map(({ dataset, plan: { name } }) => ({ dataset, plan: name }))
  return {
    grants,
    withdrawn: withdraw,
    ...(globalRows !== undefined && { globalRows: readCap(globalRows) }),
    ...(email !== undefined && { email }),
    ...(language !== undefined && { language: readLanguage(language) }),
  }
}

function readCap(text: string): number | null {
  return text === 'none' ? null : readWhole(text, '--global-rows')
}

function readLanguage(text: string): Language {
  if (text === 'en' || text === 'ru') return text
  throw badRequest(`--language: "${text}" is neither en nor ru.`)
}

/** Null where a plan is not in the registry any more. */
function monthly(registry: Registry, { grants }: Subscription): number | null {
  const known = knownGrants(registry, { grants })
  return known.length === grants.length ? priceOf(known, 1) : null
}

function knownGrants(registry: Registry, { grants }: Pick<Subscription, 'grants'>) {
  return grants.flatMap((grant) => {
    const plan = planOf(registry, grant)
    return plan ? [{ dataset: grant.dataset, plan }] : []
  })
}

/** Said at once, or the subscriber finds out by a 429. */
function usedUpLines(
  parts: CliParts,
  registry: Registry,
  subscription: Subscription,
  usage: Usage,
): readonly string[] {
  const until = `Nothing is left until ${day(periodEnd(usage.period))}.`
  const lines = knownGrants(registry, subscription).flatMap(({ dataset, plan }) => {
    const used = usage.datasets.get(dataset) ?? 0
    if (used < plan.rowsPerMonth) return []
    return [`${dataset}: ${count(parts.stdout, used)} rows are used this month. ${until}`]
  })
  if (subscription.globalRows === null || usage.total < subscription.globalRows) return lines
  const all = `Over all datasets ${count(parts.stdout, usage.total)} rows are used this month.`
  return [...lines, `${all} ${until}`]
}

function cancel(parts: CliParts, id: string, flags: Flags): void {
  const { state } = readSettings(['state'], flags, parts.environment)
  const subscription = withFilledStore(state, (store) => cancelSubscription(store, id, parts.now))
  if (flags.json) {
    printJson(parts, subscriptionJson(subscription))
    return
  }
  printLines(
    parts,
    `Subscription ${id} of ${subscription.email} is cancelled since ${day(subscription.cancelledAt ?? 0)}.`,
    `Its tokens are refused. It was paid until ${day(subscription.expiresAt)}.`,
  )
}
