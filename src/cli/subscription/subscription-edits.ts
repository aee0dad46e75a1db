import type { Command } from 'commander'
import { readRegistry } from '../../catalog.js'
import type { Config, Language } from '../../config.js'
import type { Grant } from '../../control/grants.js'
import { scheduleByOwner } from '../../control/scheduled-changes.js'
import {
  cancelSubscription,
  changeSubscription,
  extendSubscription,
} from '../../control/subscription-changes.js'
import type { SubscriptionChange } from '../../control/subscription-changes.js'
import { showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { tokenEnd } from '../../control/tokens/token-state.js'
import { listTokens } from '../../control/tokens/tokens.js'
import { periodEnd, periodOf, readUsage } from '../../control/usage.js'
import type { Usage } from '../../control/usage.js'
import { badRequest } from '../../errors.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { addPrinted, collect } from '../command.js'
import type { Flags, Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { count, day } from '../print.js'
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
import { grantsText, subscriptionJson } from './plan-options.js'
import { splitChange } from './split-change.js'

type EditConfig = Pick<Config, 'registry' | 'state'>

type ExtendFlags = Flags & { readonly months: string }

type ChangeFlags = Flags & {
  readonly plan?: readonly string[]
  readonly withdraw?: readonly string[]
  readonly globalRows?: string
  readonly email?: string
  readonly language?: string
  readonly now?: boolean
}

/** `das subscription extend|change|cancel`. */
export function addSubscriptionChanges(group: Command, parts: CliParts): void {
  addPrinted(group, parts, {
    usage: 'extend <subscription>',
    description: 'Add paid months. Tokens of an expired subscription work again.',
    options: addMonthsOption,
    settings: ['registry', 'state'],
    json: 'print {subscription, expires_at, …, price_rub}',
    examples: ['das subscription extend sub_0123456789abcdef --months 12'],
    run: (config, flags: ExtendFlags, id: string) => extend(parts, config, id, flags),
  })
  addPrinted(group, parts, {
    usage: 'change <subscription>',
    description:
      "Change plans, datasets, row limit or subscriber. This month's usage is kept. What gets " +
      'dearer costs the difference at once, what gets cheaper changes at the end of the term.',
    options: (command) =>
      command
        .option(
          '--plan <dataset:plan>',
          'add a dataset or change its plan; may be repeated',
          collect,
        )
        .option('--withdraw <dataset>', 'remove a dataset; may be repeated', collect)
        .option(
          '--global-rows <number>',
          'limit of rows a month over all datasets together, or none',
        )
        .option('--email <address>', 'new e-mail address of the subscriber')
        .option('--language <en|ru>', 'language of letters to the subscriber')
        .option('--now', 'change all at once, without a price'),
    settings: ['registry', 'state'],
    json: 'print {subscription, …, price_rub_per_month: {before, after}, price_rub, later}',
    examples: [
      'das subscription change sub_0123456789abcdef --plan financials:pro',
      'das subscription change sub_0123456789abcdef --withdraw procurement --global-rows none',
      'das subscription change sub_0123456789abcdef --email new@example.org',
    ],
    run: (config, flags: ChangeFlags, id: string) => change(parts, config, id, flags),
  })
  addPrinted(group, parts, {
    usage: 'cancel <subscription>',
    description:
      'Refuse the tokens of a subscription from the next request on. This cannot be undone.',
    settings: ['state'],
    json: 'print {subscription, cancelled_at, …}',
    examples: ['das subscription cancel sub_0123456789abcdef'],
    run: ({ state }, _flags, id: string) => cancel(parts, state, id),
  })
}

async function extend(
  parts: CliParts,
  config: EditConfig,
  id: string,
  flags: ExtendFlags,
): Promise<Result> {
  const registry = await readRegistry(config.registry)
  const months = readWhole(flags.months, '--months')
  const now = parts.clock.now()
  const priceRub = (grants: readonly Grant[]) => priceOf(plansOfGrants(registry, grants), months)
  const { before, after, hasToken } = await withFilledStore(parts, config.state, (store) =>
    store.write(async (tx) => ({
      before: await showSubscription(tx, id),
      after: await extendSubscription(tx, id, { months, priceRub, now: parts.clock.now }),
      hasToken: (await listTokens(tx, id)).some((token) => tokenEnd(token, now) === null),
    })),
  )
  const revived = before.expiresAt <= now && hasToken ? ['Its tokens work again.'] : []
  const lost = hasToken ? [] : [`It has no live token. Issue one with: das token reissue ${id}`]
  return {
    json: { ...subscriptionJson(after, now), price_rub: after.priceRub },
    lines: [
      `Subscription ${id} of ${after.email}, expires ${day(after.expiresAt)} ` +
        `(before: ${day(before.expiresAt)})`,
      priceLine(parts, after.priceRub, months),
      ...revived,
      ...lost,
    ],
  }
}

async function change(
  parts: CliParts,
  config: EditConfig,
  id: string,
  flags: ChangeFlags,
): Promise<Result> {
  const registry = await readRegistry(config.registry)
  const wanted = readChange(registry, flags)
  const now = parts.clock.now()
  const { before, after, usage, priceRub, later } = await withFilledStore(
    parts,
    config.state,
    (store) =>
      store.write(async (tx) => {
        const before = await showSubscription(tx, id)
        const split = flags.now
          ? { change: wanted, later: [] }
          : await splitChange(tx, registry, before, wanted, now)
        const { email, language, globalRows, grants, withdrawn } = split.change
        const isNow = grants.length + withdrawn.length > 0 || (email ?? language) !== undefined
        // It also refuses a cancelled one.
        const after =
          isNow || globalRows !== undefined || before.cancelledAt !== null
            ? await changeSubscription(tx, id, { ...split.change, now: () => now })
            : before
        if (split.later.length > 0) await scheduleByOwner(tx, after, split.later, now)
        const usage = await readUsage(tx, id, periodOf(now))
        return { before, after, usage, priceRub: split.change.priceRub ?? 0, later: split.later }
      }),
  )
  const prices = { before: monthly(registry, before), after: monthly(registry, after) }
  const rub = (price: number | null) =>
    price === null ? 'unknown' : `${count(parts.stdout, price)} RUB`
  const end =
    after.expiresAt === before.expiresAt ? ' as before' : ` (before: ${day(before.expiresAt)})`
  return {
    json: {
      ...subscriptionJson(after, now),
      price_rub_per_month: prices,
      price_rub: priceRub,
      later: later.map(({ dataset, plan }) => ({ dataset, plan: plan || null })),
    },
    lines: [
      `Subscription ${id} of ${after.email}, expires ${day(after.expiresAt)}${end}`,
      '',
      ...planLines(parts, knownGrants(registry, after), after.globalRows),
      `A month costs ${rub(prices.after)}; before: ${rub(prices.before)}.`,
      ...(priceRub === 0 ? [] : [`Price until ${day(after.expiresAt)}: ${rub(priceRub)}.`]),
      ...(later.length === 0 ? [] : [`From ${day(after.expiresAt)}: ${grantsText(later)}.`]),
      ...(flags.now ? ['Nothing was charged: settle it with the subscriber.'] : []),
      ...usedUpLines(parts, registry, after, usage),
    ],
  }
}

/** @throws bad_request for no change, or for one that can't be read */
function readChange(registry: Registry, flags: ChangeFlags): Omit<SubscriptionChange, 'now'> {
  const { plan = [], withdraw = [], globalRows, email, language } = flags
  if (plan.length + withdraw.length === 0 && !(globalRows ?? email ?? language)) {
    throw badRequest(
      'Nothing to change. Use --plan DATASET:PLAN, --withdraw DATASET, --global-rows NUMBER, ' +
        '--email ADDRESS or --language LANGUAGE.',
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
  return text === 'none' ? null : readWhole(text, '--global-rows', ', or none')
}

function readLanguage(text: string): Language {
  if (text === 'en' || text === 'ru') return text
  throw badRequest(`--language must be en or ru, got "${text}".`)
}

/** The price of a month; null when a plan left the registry. */
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

/** Warns the owner before the subscriber gets a 429. */
function usedUpLines(
  parts: CliParts,
  registry: Registry,
  subscription: Subscription,
  usage: Usage,
): readonly string[] {
  const until = `No rows are left until ${day(periodEnd(usage.period))}.`
  const lines = knownGrants(registry, subscription).flatMap(({ dataset, plan }) => {
    const used = usage.datasets.get(dataset) ?? 0
    if (used < plan.rowsPerMonth) return []
    return [`${dataset}: ${count(parts.stdout, used)} rows were used this month. ${until}`]
  })
  if (subscription.globalRows === null || usage.total < subscription.globalRows) return lines
  const total = count(parts.stdout, usage.total)
  return [...lines, `All datasets together: ${total} rows were used this month. ${until}`]
}

async function cancel(parts: CliParts, state: string, id: string): Promise<Result> {
  const subscription = await withFilledStore(parts, state, (store) =>
    cancelSubscription(store, id, parts.clock.now),
  )
  const { email, cancelledAt, expiresAt } = subscription
  return {
    json: subscriptionJson(subscription, parts.clock.now()),
    lines: [
      `Subscription ${id} of ${email} was cancelled on ${day(cancelledAt ?? 0)}.`,
      `Its tokens are refused. It was paid until ${day(expiresAt)}.`,
    ],
  }
}
