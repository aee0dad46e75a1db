import { element } from './element.js'

export interface TabPanel {
  readonly id: string
  readonly title: string
  readonly panel: HTMLElement
}

export interface Tabs {
  /** The row of tabs. The panels are placed by the caller. */
  readonly node: HTMLElement
  readonly select: (id: string) => void
}

/**
 * Makes elements the panels of tabs, of which one is shown. The arrow keys move between the tabs;
 * `chosen` learns of every choice that the visitor makes.
 */
export function makeTabs(
  label: string,
  panels: readonly TabPanel[],
  chosen: (id: string) => void = () => undefined,
): Tabs {
  const node = element('div', { class: 'tabs', role: 'tablist', 'aria-label': label })
  const tabs = panels.map(({ id, title, panel }) => {
    const [tabId, panelId] = [`tab-${id}`, `panel-${id}`]
    const tab = element('button', {
      type: 'button',
      role: 'tab',
      id: tabId,
      'aria-controls': panelId,
    })
    tab.append(title)
    panel.id = panelId
    panel.setAttribute('role', 'tabpanel')
    panel.setAttribute('aria-labelledby', tabId)
    return { id, tab, panel }
  })
  const select = (wanted: string) => {
    for (const { id, tab, panel } of tabs) {
      const isChosen = id === wanted
      tab.setAttribute('aria-selected', String(isChosen))
      tab.tabIndex = isChosen ? 0 : -1
      panel.hidden = !isChosen
    }
  }
  const choose = (id: string) => {
    select(id)
    chosen(id)
  }
  for (const [index, { id, tab }] of tabs.entries()) {
    tab.addEventListener('click', () => choose(id))
    tab.addEventListener('keydown', ({ key }) => {
      const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }
      const step = steps[key]
      const next = step === undefined ? undefined : tabs.at((index + step) % tabs.length)
      if (!next) return
      choose(next.id)
      next.tab.focus()
    })
    node.append(tab)
  }
  select(panels[0]?.id ?? '')
  return { node, select }
}
