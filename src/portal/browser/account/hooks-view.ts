import type { DeliveryJson, WatchListJson, WebhookJson } from '../../account-api.js'
import { enableCopying } from '../copy.js'
import { button, copyable, element, onSubmit } from '../element.js'
import { words } from '../page-words.js'
import { listSection } from './account-parts.js'
import type { ListSection } from './account-parts.js'
import { say } from './account-words.js'

/** The webhooks of a subscription: added, tested, deleted, with their messages. */
export function webhooksView(token: string): HTMLElement {
  const below = element('div')
  const path = (hook: WebhookJson, rest = '') => `/v1/webhooks/${hook.id}${rest}`
  const send = async (to: string, body?: object) => {
    const answer = await list.act(say.secretShown, to, token, { method: 'POST', body })
    if (answer === null) return
    const { secret } = answer as { readonly secret: string }
    below.replaceChildren(copyable(element('code', {}, secret), words.copy))
    enableCopying(below)
  }
  const remove = (hook: WebhookJson) => {
    below.replaceChildren()
    return list.act(say.deleted(hook.url), path(hook), token, { method: 'DELETE' })
  }
  const test = async (hook: WebhookJson) => {
    const answer = await list.act(say.tested, path(hook, '/test'), token, { method: 'POST' })
    const { error = null } = (answer ?? {}) as { readonly error?: string | null }
    if (error !== null) list.say(error)
  }
  const show = (hook: WebhookJson) => {
    below.replaceChildren(deliveriesView(token, hook, path(hook, '/deliveries')))
  }
  const actions = (hook: WebhookJson) =>
    element(
      'div',
      { class: 'line' },
      named(say.deliveries, hook.url, () => show(hook)),
      named(say.test, hook.url, () => test(hook)),
      named(say.newSecret, hook.url, () => send(path(hook, '/secret'))),
      named(say.remove, hook.url, () => remove(hook)),
    )
  const form = webhookForm((hook) => send('/v1/webhooks', hook))
  const list: ListSection = listSection<WebhookJson>(
    token,
    {
      id: 'webhooks',
      path: '/v1/webhooks',
      title: say.webhooks,
      text: say.webhooksText,
      none: say.noWebhooks,
      titles: [say.url, say.events, say.watchList, say.state, say.action],
      cells: (hook) => [
        hook.url,
        hook.events.map((type) => say.eventTypes[type]).join(', '),
        hook.watch ?? '',
        say.webhookStates[hook.state],
        actions(hook),
      ],
    },
    below,
    form,
  )
  return list.section
}

function webhookForm(add: (hook: object) => Promise<void>): HTMLElement {
  const url = element('input', { id: 'hook-url', type: 'url', required: true, maxlength: 2000 })
  const watch = element('input', { id: 'hook-watch', maxlength: 64 })
  const boxes = Object.entries(say.eventTypes).map(([type, text]) => {
    const box = element('input', { id: `hook-${type}`, type: 'checkbox', value: type })
    return { box, line: element('label', { class: 'line' }, box, text) }
  })
  const form = element(
    'form',
    {},
    labelled(say.url, url),
    element('fieldset', {}, element('legend', {}, say.events), ...boxes.map(({ line }) => line)),
    labelled(say.watchList, watch),
    element('button', {}, say.add),
  )
  onSubmit(form, () => {
    const events = boxes.flatMap(({ box }) => (box.checked ? [box.value] : []))
    return add({ url: url.value, events, watch: watch.value })
  })
  return form
}

function deliveriesView(token: string, hook: WebhookJson, path: string): HTMLElement {
  const resend = ({ n }: DeliveryJson) =>
    list.act(say.resent(String(n)), `${path}/${n}/resend`, token, { method: 'POST' })
  const list: ListSection = listSection<DeliveryJson>(token, {
    id: 'deliveries',
    path,
    title: say.deliveries,
    text: say.deliveriesText(hook.url),
    none: say.noDeliveries,
    titles: [say.number, say.at, say.events, say.state, say.attempts, say.result, say.action],
    cells: (each) => [
      String(each.n),
      say.moment(each.at),
      say.eventTypes[each.type],
      say.deliveryStates[each.state],
      String(each.attempts),
      each.error ?? String(each.status ?? ''),
      hook.state === 'active' ? named(say.resend, String(each.n), () => resend(each)) : '',
    ],
  })
  return list.section
}

/** The watch lists of a subscription: stored and deleted. */
export function watchListsView(token: string): HTMLElement {
  const path = (name: string) => `/v1/watch/${encodeURIComponent(name)}`
  const remove = (name: string) =>
    list.act(say.deleted(name), path(name), token, { method: 'DELETE' })
  const form = listForm((name, body) =>
    list.act(say.stored(name), path(name), token, { method: 'PUT', body }),
  )
  const list: ListSection = listSection<WatchListJson>(
    token,
    {
      id: 'watch-lists',
      path: '/v1/watch',
      title: say.watchLists,
      text: say.watchListsText,
      none: say.noWatchLists,
      titles: [say.name, words.dataset, say.column, say.count, say.action],
      cells: ({ name, dataset, column, count }) => [
        ...[name, dataset, column, words.number(count)],
        named(say.remove, name, () => remove(name)),
      ],
    },
    form,
  )
  return list.section
}

function listForm(put: (name: string, list: object) => Promise<unknown>): HTMLElement {
  const input = (id: string) => element('input', { id, required: true, maxlength: 200 })
  const [name, dataset, column] = [input('list-name'), input('list-dataset'), input('list-column')]
  const values = element('textarea', { id: 'list-values', required: true, rows: 4 })
  const form = element(
    'form',
    {},
    labelled(say.name, name),
    labelled(words.dataset, dataset),
    labelled(say.column, column),
    labelled(say.values, values),
    element('button', {}, say.add),
  )
  onSubmit(form, async () => {
    const lines = values.value.split('\n').map((line) => line.trim())
    const list = { dataset: dataset.value, column: column.value }
    await put(name.value, { ...list, values: lines.filter((line) => line !== '') })
  })
  return form
}

/** A button of one item in a list; screen readers also say of which. */
function named(text: string, item: string, act: () => unknown): HTMLElement {
  const work = async () => {
    await act()
  }
  return button(text, work, { 'aria-label': `${text}: ${item}` })
}

function labelled(text: string, input: HTMLElement): HTMLElement {
  return element('p', { class: 'line' }, element('label', { for: input.id }, text), input)
}
