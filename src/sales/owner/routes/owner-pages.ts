import type { DatasetState } from '../../../control/dataset-state.js'
import { grantsOfTexts } from '../../../control/grants.js'
import { inOrder } from '../../../control/in-order.js'
import type { openOrders } from '../../../control/order-counts.js'
import type { Order } from '../../../control/orders.js'
import type { ErrorCode, ServiceError } from '../../../errors.js'
import { fact, html } from '../../../portal/html.js'
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
import { byLink } from '../decide-order.js'
import type { Decision, OverOrder } from '../decide-order.js'
import { readReport, reports } from '../reports.js'
import type { ReportColumn, ReportLine, ReportName } from '../reports.js'
import { ownerWordsOf } from './owner-words.js'
import type { OwnerWords } from './owner-words.js'

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

/** A form that confirms or declines an order. */
function decideForm(
  { language, link }: PageContext,
  path: string,
  fields: Readonly<Record<string, string>>,
): Html {
  const say = ownerWordsOf(language)
  return html`<form method="post" action="${link(path)}">
    ${Object.entries(fields).map(([name, value]) => {
      return html`<input type="hidden" name="${name}" value="${value}" />`
    })}
    <button type="submit" class="primary" name="action" value="confirm">${say.confirm}</button>
    <button type="submit" name="action" value="decline">${say.decline}</button>
  </form>`
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

/** Renders the page of a letter's link: its script sends the secret, which no GET has. */
export function linkPage(context: PageContext): string {
  const { language, link } = context
  const say = ownerWordsOf(language)
  return titledPage(
    context,
    say.title,
    html`<p class="lead">${say.opening} ${ownerLink(context)}.</p>
      <form id="owner-order" method="post" action="${link('/owner/order')}">
        <input type="hidden" name="action" value="show" />
        <input type="hidden" name="secret" value="" />
      </form>`,
  )
}

/** Renders the order of a link, with the buttons that decide, and why it can't be done. */
export function linkedOrderPage(
  context: PageContext,
  shop: Shop,
  order: Order,
  { secret, cause = null }: { readonly secret: string; readonly cause?: ServiceError | null },
): string {
  const { language, words } = context
  const [say, papers] = [ownerWordsOf(language), paperWords(language)]
  return titledPage(
    context,
    say.orderTitle(order.orderId),
    html`${cause && impossibleNote(context, cause)}
      <p class="lead">${say.askText}</p>
      <dl class="facts">
        ${fact(papers.buyer, buyerText(order, papers))}
        ${fact(say.columns.grants, plansText(shop.registry(), language, order))}
        ${order.months === null ? null : fact(say.months, words.number(order.months))}
        ${fact(say.columns.amount_rub, words.roubles(order.amountRub))}
        ${fact(say.payBy, words.day(isoTime(order.payUntil)))}
      </dl>
      ${decideForm(context, '/owner/order', { secret })}`,
  )
}

/** Renders why an order of the owner's page can't be confirmed. */
export function impossiblePage(
  context: PageContext,
  { orderId }: Order,
  cause: ServiceError,
): string {
  const title = ownerWordsOf(context.language).orderTitle(orderId)
  return titledPage(
    context,
    title,
    html`${impossibleNote(context, cause)} ${backToOrders(context)}`,
  )
}

function impossibleNote({ language }: PageContext, { detail }: ServiceError): Html {
  return html`<p class="refusal" role="alert">
    ${ownerWordsOf(language).impossible} <span class="muted" lang="en">${detail}</span>
  </p>`
}

/** Renders what became of an order before: someone else was earlier, or it is too late. */
export function overPage(context: PageContext, { order, who }: OverOrder): string {
  const { language, words } = context
  const say = ownerWordsOf(language)
  const { orderId, state, doneAt } = order
  const at = doneAt === null ? '' : isoTime(doneAt)
  const when = at === '' ? '' : `${words.day(at)}, ${at.slice(11, 16)} UTC`
  return titledPage(
    context,
    say.orderTitle(orderId),
    html`<p class="lead" role="status">
        ${say.over(accountWords(language).orderStates[state], when)} ${howText(say, state, who)}
      </p>
      <p>${say.overText}</p>
      ${backToOrders(context)}`,
  )
}

/** Who decided: an owner, the link of a letter, a payment, or a command. */
function howText(say: OwnerWords, state: Order['state'], who: OverOrder['who']): string | null {
  if (who === null || state === 'expired') return null
  const { actor, by } = who
  if (by !== null) return by === byLink ? say.byLink : say.byOwner(by)
  return actor === 'server' ? say.byPayment : say.byCommand(actor)
}

/** Renders what a link has done. */
export function decidedPage(context: PageContext, orderId: string, decision: Decision): string {
  const say = ownerWordsOf(context.language)
  return titledPage(
    context,
    say.orderTitle(orderId),
    html`<p class="lead" role="status">${say.done[decision]} ${say.doneText}</p>
      ${backToOrders(context)}`,
  )
}

function backToOrders({ language, link }: PageContext): Html {
  return html`<p><a href="${link('/owner')}">${ownerWordsOf(language).title}</a></p>`
}

/** Renders the page of a link whose 14 days are over, or that is unknown: one for both. */
export function goneLinkPage(context: PageContext): string {
  const say = ownerWordsOf(context.language)
  return titledPage(
    context,
    say.goneTitle,
    html`<p class="lead">${say.goneText} ${ownerLink(context)}.</p>`,
  )
}

function ownerLink({ language, link }: PageContext): Html {
  return html`<a href="${link('/owner')}">${ownerWordsOf(language).signIn}</a>`
}
