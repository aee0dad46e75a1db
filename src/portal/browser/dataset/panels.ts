import { analysisPanel } from '../analyse/analyse.js'
import { firstSummary } from '../analyse/first-question.js'
import { element } from '../element.js'
import { rowsPanel } from '../explorer/explorer.js'
import { words } from '../page-words.js'
import type { PageFacts, Panel, ViewChanges } from '../question/panel.js'
import { writeFragment } from '../question/view.js'
import type { Tab, View } from '../question/view.js'
import { makeTabs } from '../tabs.js'
import type { Address } from './address.js'

export interface Panels {
  /** Shows this in its tab; `isAsked` also asks it, unless it is there already. */
  readonly show: (view: View, isAsked: boolean) => void
  readonly view: () => View
}

/** Builds the tabs of a dataset's page in this place: rows, and groups if the dataset has them. */
export function makePanels(
  place: HTMLElement,
  facts: PageFacts,
  first: View,
  address: Address,
): Panels {
  const changes: ViewChanges = {
    edited: (view) => address.edit(writeFragment(view)),
    asked: (view) => address.ask(writeFragment(view)),
    opened: (view) => show(view, true),
  }
  const views: Record<Tab, View> = {
    rows: first,
    analyse: { tab: 'analyse', question: firstSummary(facts) },
  }
  const panels = new Map<Tab, Panel>()
  let current: Tab = first.tab
  const shown = () => panels.get(current)?.view() ?? views[current]
  const tabs: readonly Tab[] = facts.hasAggregates ? ['rows', 'analyse'] : ['rows']
  const places = tabs.map((id) => ({ id, title: words.tabs[id], panel: element('div') }))
  const bar = makeTabs(words.explorer, places, (id) => {
    const tab = tabs.find((each) => each === id) ?? 'rows'
    show(panels.get(tab)?.view() ?? views[tab], false)
    address.open(writeFragment(shown()))
  })
  const show = (view: View, isAsked: boolean) => {
    const target = places.find(({ id }) => id === view.tab)
    if (!target) return show(first, false)
    current = view.tab
    bar.select(view.tab)
    const known = panels.get(view.tab)
    if (known && writeFragment(known.view()) === writeFragment(view)) return
    const panel =
      view.tab === 'rows' ? rowsPanel(facts, view, changes) : analysisPanel(facts, view, changes)
    panels.set(view.tab, panel)
    target.panel.replaceChildren(panel.node)
    if (isAsked) panel.run()
  }
  place.append(...(tabs.length > 1 ? [bar.node] : []), ...places.map(({ panel }) => panel))
  return { show, view: shown }
}
