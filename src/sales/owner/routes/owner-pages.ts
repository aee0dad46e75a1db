import type { DatasetState } from '../../../control/dataset-state.js'
import { grantsOfTexts } from '../../../control/grants.js'
import { inOrder } from '../../../control/in-order.js'
import type { openOrders } from '../../../control/order-counts.js'
import type { ErrorCode } from '../../../errors.js'
import { html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import { signInWords } from '../../../portal/sign-in-words.js'
import { titledPage } from '../../../portal/titled-page.js'
import { wideTable } from '../../../portal/wide-table.js'
import { grantedTitle } from '../../../registry/registry.js'
import { isoTime } from '../../../text.js'
import { accountWords } from '../../account-words.js'
import { buyerText, plansText } from '../../orders/papers/paper.js'
import { paperWords } from '../../orders/papers/paper-words.js'
import { titleOf } from '../../orders/shop.js'
import type { Shop } from '../../orders/shop.js'
import { readReport, reports } from '../reports.js'
import type { ReportColumn, ReportLine, ReportName } from '../reports.js'
import { decideForm } from './decision-pages.js'
import { ownerWordsOf } from './owner-words.js'

/** Lines of a table; the command line has all. */
export const shownMax = 100

/** What the owner's page shows beside its reports. */
export interface OwnerFacts {
  readonly email: string
  /** Those that can be confirmed or declined, newest first. */
  readonly orders: Awaited<ReturnType<typeof openOrders>>
  readonly datasets: readonly DatasetState[]
}

/** Renders the owner's page: orders, reports, datasets. */
export async function ownerPage(
  context: PageContext,
  shop: Shop,
  { email, orders, datasets }: OwnerFacts,
): Promise<string> {
  const { language, link } = context
  const [say, signIn] = [ownerWordsOf(language), signInWords(language)]
  return titledPage(
    context,
    say.title,
    html`<form method="post" action="${link('/owner/sign-out')}">
        <p>${signIn.signedInAs(email)} <button type="submit">${signIn.signOut}</button></p>
      </form>
      ${ordersTable(context, shop, orders)} ${await reportTables(context, shop)}
      ${datasetsTable(context, shop, datasets)}`,
  )
}

/** A table of items under its title; what is not shown is said, with the command that shows it. */
function section<Item>(
  { language, words }: PageContext,
  title: string,
  items: readonly Item[],
  {
    command,
    count = items.length,
    none,
    columns,
  }: {
    readonly command: string
    /** How many there are in all. */
    readonly count?: number
    readonly none?: string
    readonly columns: Readonly<Record<string, (item: Item) => Html | string>>
  },
): Html {
  const say = ownerWordsOf(language)
  const shown = items.slice(0, shownMax)
  const cells = Object.values(columns)
  const more = count - shown.length
  return html`<h2>${title}</h2>
    ${
      items.length === 0
        ? html`<p class="muted">${none ?? say.nothing}</p>`
        : wideTable(
            title,
            Object.keys(columns),
            shown.map((item) => cells.map((cell) => cell(item))),
          )
    }
    ${more === 0 ? null : html`<p>${say.more(words.number(more))} <code>${command}</code></p>`}`
}

function ordersTable(context: PageContext, shop: Shop, orders: OwnerFacts['orders']): Html {
  const { words, language } = context
  const say = ownerWordsOf(language)
  const papers = paperWords(language)
  const { orderStates } = accountWords(language)
  const { newest, count } = orders
  return section(context, say.orders, newest, {
    count,
    command: 'das order list --all',
    none: say.noOrders,
    columns: {
      [say.order]: ({ orderId }) => orderId,
      [say.decide]: ({ orderId }) => decideForm(context, '/owner/orders', { order: orderId }),
      [say.columns.placed]: ({ orderedAt }) => words.day(isoTime(orderedAt)),
      [papers.buyer]: (order) => buyerText(order, papers),
      [say.columns.grants]: (order) => plansText(shop.registry(), language, order),
      [say.months]: ({ months }) => (months === null ? '' : words.number(months)),
      [say.columns.amount_rub]: ({ amountRub }) => words.roubles(amountRub),
      [say.state]: ({ state }) => orderStates[state],
    },
  })
}

function reportTables(context: PageContext, shop: Shop): Promise<readonly Html[]> {
  const say = ownerWordsOf(context.language)
  const names = Object.keys(reports) as ReportName[]
  return inOrder(names, async (name) =>
    section(context, say.reports[name], await readReport(name, shop), {
      command: `das report ${name}`,
      columns: Object.fromEntries(
        reports[name].columns.map((column: ReportColumn) => [
          say.columns[column],
          (line) => shownValue(context, shop, column, line),
        ]),
      ),
    }),
  )
}

/** A value of a report in the language of the page, with titles in place of names. */
function shownValue(
  { words, language }: PageContext,
  shop: Shop,
  column: ReportColumn,
  line: Partial<ReportLine<ReportColumn>>,
): string {
  const value = line[column] ?? null
  if (value === null) return column === 'dataset' ? ownerWordsOf(language).overAll : ''
  if (typeof value === 'string') {
    const [registry, dataset] = [shop.registry(), String(line.dataset)]
    if (column === 'dataset') return titleOf(shop, language, dataset)
    if (column === 'plan') return grantedTitle(registry, language, { dataset, plan: value })
    const items = column === 'grants' ? grantsOfTexts(value.split(' ')) : null
    if (items) return plansText(registry, language, { items })
    if (column === 'month') return words.monthName(value)
    if (column === 'error') return refusalTitle(words, value)
    return column === 'expires_at' || column === 'week' ? words.day(value) : value
  }
  // Nothing is 100 % before it is.
  if (column === 'share') return words.share(Math.floor(value * 1000) / 1000)
  return column === 'amount_rub' ? words.roubles(value) : words.number(value)
}

/** What a refusal says first, and its code. */
function refusalTitle({ refusals }: PageContext['words'], code: string): string {
  const [title] = refusals[code as ErrorCode]?.split('.', 1) ?? []
  return title === undefined ? code : `${title} · ${code}`
}

function datasetsTable(context: PageContext, shop: Shop, datasets: readonly DatasetState[]): Html {
  const { words, language } = context
  const say = ownerWordsOf(language)
  return section(context, say.datasets, datasets, {
    command: 'das dataset list',
    columns: {
      [say.columns.dataset]: ({ dataset }) => titleOf(shop, language, dataset),
      [say.state]: ({ status }) => say.states[status],
      [say.columns.rows]: ({ rows }) => (rows === null ? '' : words.number(rows)),
      [say.since]: ({ updatedAt }) => words.day(isoTime(updatedAt)),
    },
  })
}
