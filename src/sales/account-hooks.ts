import { redirectTarget } from '../control/connections/redirect-target.js'
import type { Delivery } from '../control/hooks/deliveries.js'
import type { WatchListSummary } from '../control/hooks/watch-lists.js'
import { eventTypes } from '../control/hooks/webhooks.js'
import type { EventType, Webhook } from '../control/hooks/webhooks.js'
import { plainText } from '../plain-text.js'
import { html } from '../portal/html.js'
import type { Html } from '../portal/html.js'
import { titledPage } from '../portal/titled-page.js'
import { wideTable } from '../portal/wide-table.js'
import type { OwnConnection } from '../service/own-connections.js'
import { accountForm, actButton, backToAccount, hidden, placeOf } from './account-form.js'
import type { AccountView } from './account-form.js'
import { accountWords } from './account-words.js'
import { shopWordsOf } from './orders/routes/shop-words.js'

/** What was typed into a form that was refused. */
export type Typed = Pick<URLSearchParams, 'get' | 'getAll'>

/** What a subscription has of something, under its heading; `more` stands below it. */
function listSection(
  view: AccountView,
  section: string,
  ...list: Parameters<typeof listPart>
): Html {
  const [{ title }] = list
  return html`<h3 id="${placeOf(view, section)}">${title}</h3>
    ${listPart(...list)}`
}

function listPart(
  { title, text, none }: Readonly<Record<'title' | 'text' | 'none', string>>,
  columns: readonly string[],
  rows: readonly (readonly (Html | string)[])[],
  more: Html | null = null,
): Html {
  return html`<p>${text}</p>
    ${rows.length === 0 ? html`<p class="muted">${none}</p>` : wideTable(title, columns, rows)}
    ${more}`
}

/** The agents that signed in with a token of the subscription; each can be ended. */
export function connectionsSection(view: AccountView, connections: readonly OwnConnection[]): Html {
  const say = accountWords(view.context.language)
  const { date } = shopWordsOf(view.context.language)
  const { connections: title, connectionsText: text, noConnections: none } = say
  return listSection(
    view,
    'connections',
    { title, text, none },
    [say.app, say.accessOf, say.connectedOn, say.lastUsedOn, say.state, say.action],
    connections.map(({ connectionId, clientName, redirectUri, connectedAt, lastUsedAt, state }) => {
      const app = plainText(clientName)
      const isOpen = state === 'live' || state === 'waiting'
      const end = html`${hidden('connection', connectionId)}
      ${actButton('end', say.end, say.endOf(app))}`
      return [
        app,
        targetText(view, redirectUri),
        connectedAt === null ? say.notYet : date(connectedAt),
        lastUsedAt === null ? say.never : date(lastUsedAt),
        say.connectionStates[state],
        isOpen ? accountForm(view, 'connections', end, 'line') : '',
      ]
    }),
  )
}

function targetText({ context }: AccountView, uri: string): string {
  const target = redirectTarget(uri)
  if (target?.kind === 'site') return target.host
  if (target?.kind === 'app') return `${target.scheme}://`
  return accountWords(context.language).thisComputer
}

/** The webhooks of a subscription: added, tested, deleted, with their messages. */
export function webhooksSection(
  view: AccountView,
  webhooks: readonly Webhook[],
  typed: Typed,
): Html {
  const say = accountWords(view.context.language)
  const { webhooks: title, webhooksText: text, noWebhooks: none } = say
  return listSection(
    view,
    'webhooks',
    { title, text, none },
    [say.url, say.events, say.watchList, say.state, say.action],
    webhooks.map(({ webhookId, url, events, watch, state }) => [
      url,
      events.map((type) => say.eventTypes[type]).join(', '),
      watch ?? '',
      say.webhookStates[state],
      accountForm(
        view,
        'webhooks',
        [
          hidden('webhook', webhookId),
          actButton('deliveries', say.deliveries, `${say.deliveries}: ${url}`),
          actButton('test-webhook', say.test, `${say.test}: ${url}`),
          actButton('secret', say.newSecret, `${say.newSecret}: ${url}`),
          actButton('delete-webhook', say.remove, `${say.remove}: ${url}`),
        ],
        'line',
      ),
    ]),
    webhookForm(view, typed),
  )
}

function webhookForm(view: AccountView, typed: Typed): Html {
  const say = accountWords(view.context.language)
  const chosen = typed.getAll('event')
  const box = (type: EventType) => {
    const mark = chosen.includes(type) ? html`checked` : null
    return html`<label>
      <input type="checkbox" name="event" value="${type}" ${mark} /> ${say.eventTypes[type]}
    </label>`
  }
  return accountForm(
    view,
    'webhooks',
    html`${field(view, typed, 'url', say.url, html`type="url" required maxlength="2000"`)}
      <fieldset>
        <legend>${say.events}</legend>
        ${eventTypes.map(box)}
      </fieldset>
      ${field(view, typed, 'watch', say.watchList, html`maxlength="64"`)}
      <p>${actButton('add-webhook', say.add, `${say.add}: ${say.webhooks}`)}</p>`,
  )
}

function field(view: AccountView, typed: Typed, name: string, text: string, rest: Html): Html {
  const id = placeOf(view, name)
  return html`<p>
    <label for="${id}">${text}</label>
    <input id="${id}" name="${name}" value="${typed.get(name) ?? ''}" ${rest} />
  </p>`
}

/** The watch lists of a subscription: stored and deleted. */
export function watchListsSection(
  view: AccountView,
  lists: readonly WatchListSummary[],
  typed: Typed,
): Html {
  const { language, words } = view.context
  const say = accountWords(language)
  const { watchLists: title, watchListsText: text, noWatchLists: none } = say
  return listSection(
    view,
    'lists',
    { title, text, none },
    [say.name, words.dataset, words.column, say.count, say.action],
    lists.map(({ name, dataset, column, count }) => [
      name,
      dataset,
      column,
      words.number(count),
      accountForm(
        view,
        'lists',
        [hidden('list', name), actButton('delete-list', say.remove, `${say.remove}: ${name}`)],
        'line',
      ),
    ]),
    watchListForm(view, typed),
  )
}

function watchListForm(view: AccountView, typed: Typed): Html {
  const { language, words } = view.context
  const say = accountWords(language)
  const id = placeOf(view, 'values')
  const needed = html`required maxlength="200"`
  return accountForm(
    view,
    'lists',
    html`${field(view, typed, 'list', say.name, needed)}
      ${field(view, typed, 'dataset', words.dataset, needed)}
      ${field(view, typed, 'column', words.column, needed)}
      <p>
        <label for="${id}">${say.values}</label>
        <textarea id="${id}" name="values" required rows="4">${typed.get('values') ?? ''}</textarea>
      </p>
      <p>${actButton('add-list', say.add, `${say.add}: ${say.watchLists}`)}</p>`,
  )
}

/** Renders the messages to a webhook, newest first; earlier ones begin at the number `next`. */
export function deliveriesPage(
  view: AccountView,
  { webhookId, url, state }: Webhook,
  deliveries: readonly Delivery[],
  next: number | null,
): string {
  const say = accountWords(view.context.language)
  const { date } = shopWordsOf(view.context.language)
  const { deliveries: title, noDeliveries: none } = say
  const form = (...content: readonly Html[]) =>
    accountForm(view, 'deliveries', [hidden('webhook', webhookId), ...content], 'line')
  const earlier = (n: number) => form(hidden('upto', n), actButton('deliveries', say.earlier))
  return titledPage(
    view.context,
    title,
    html`${listPart(
      { title, text: say.deliveriesText(url), none },
      [say.number, say.at, say.events, say.state, say.attempts, say.result, say.action],
      deliveries.map(({ n, createdAt, attemptedAt, type, error, status, ...each }) => [
        String(n),
        date(attemptedAt ?? createdAt),
        say.eventTypes[type],
        say.deliveryStates[each.state],
        String(each.attempts),
        error ?? String(status ?? ''),
        state === 'active'
          ? form(hidden('n', n), actButton('resend', say.resend, `${say.resend}: ${n}`))
          : '',
      ]),
      next === null ? null : earlier(next),
    )}
    ${backToAccount(view)}`,
  )
}
