import { callName, parseCalls, parseDirectedCalls } from '../../../columns/call-text.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import type { FormPart } from '../question/row-list.js'

/** A measure or a group, as a request says it and as people read it. */
export interface OrderPart {
  readonly text: string
  readonly title: string
}

export interface OrderChoice extends FormPart<string> {
  /** Offers the measures and groups that are asked for now. */
  readonly offer: (parts: readonly OrderPart[]) => void
}

/** The order of the groups: by themselves, or by a measure, from either end. */
export function orderChoice(chosen: string, parts: readonly OrderPart[]): OrderChoice {
  const select = element('select')
  const severals = chosen !== '' && parseDirectedCalls(chosen, 'order').length > 1
  const offer = (asked: readonly OrderPart[]) => {
    const { value } = select
    const titles = new Map(asked.map(({ text, title }) => [orderKey(text), title]))
    const options = [...titles].flatMap(([key, title]) => [
      element('option', { value: `-${key}` }, words.largestFirst(title)),
      element('option', { value: key }, words.smallestFirst(title)),
    ])
    select.replaceChildren(element('option', { value: '' }, words.orderByGroups), ...options)
    // Several at once, of the address.
    if (severals) select.append(element('option', {}, chosen))
    select.value = value
    if (select.selectedIndex === -1) select.value = ''
  }
  offer(parts)
  select.value = chosen
  if (select.selectedIndex === -1) select.value = ''
  const node = element('label', { class: 'line' }, words.order, select)
  return { node, read: () => select.value, offer }
}

/** The order by a group or measure, as a request says it: a renamed one by its new name. */
export function orderKey(text: string): string {
  const [call] = parseCalls(text, 'order')
  return call?.alias == null ? text : callName(call.alias)
}
