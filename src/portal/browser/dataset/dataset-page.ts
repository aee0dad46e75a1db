import { readRowsQuestion } from '../question/rows-question.js'
import { readColumns, readMeasures } from '../question/columns.js'
import type { PageFacts } from '../question/panel.js'
import { firstPlace, readFragment, writeFragment } from '../question/view.js'
import type { View } from '../question/view.js'
import { ownToken } from '../tab-store.js'
import { tokenBar } from '../token-form.js'
import { keepAddress } from './address.js'
import { factsView } from './column-facts.js'
import { makePanels } from './panels.js'
import type { Panels } from './panels.js'

/**
 * Starts a dataset's page. What it shows is a `View`: it comes from the address or from a form, and
 * goes from there to the address, the request, the code and the answer.
 */
export function startDatasetPage(place: HTMLElement): void {
  const { demoToken = '', query = '', limit } = place.dataset
  const question = { ...readRowsQuestion(query), limit: Number(limit) }
  const first: View = { tab: 'rows', question, place: firstPlace }
  const address = keepAddress()
  /** The demo asks by itself; a link must not spend the rows of a visitor's own token. */
  const mayAsk = () => ownToken() === null || address.wasAsked()
  const facts = factsView(place.dataset['dataset'] ?? '')
  let panels: Panels | null = null
  const open = (view: View, isAsked: boolean) => {
    const token = ownToken() ?? demoToken
    const changed = () => open(panels?.view() ?? view, ownToken() === null)
    place.replaceChildren(tokenBar(demoToken !== '', changed))
    void facts.load(token)
    panels = token === '' ? null : makePanels(place, readFacts(place, token), first, address)
    panels?.show(view, isAsked)
  }
  address.follow((fragment) => {
    const view = fragment === '' ? first : readFragment(fragment)
    if (view) {
      panels?.show(view, mayAsk())
      place.scrollIntoView({ block: 'nearest' })
    }
    // A link to a part of the page took the place of the question.
    else if (panels) history.replaceState(null, '', writeFragment(panels.view()))
  })
  const linked = readFragment(location.hash)
  open(linked ?? first, mayAsk())
  if (linked) place.parentElement?.scrollIntoView()
}

function readFacts({ dataset: data }: HTMLElement, token: string): PageFacts {
  return {
    dataset: data['dataset'] ?? '',
    history: data['history'] ?? '',
    hasAggregates: data['aggregates'] === 'on',
    limit: Number(data['limit']),
    limitMax: Number(data['limitMax']),
    columns: readColumns(),
    measures: readMeasures(),
    token,
    shownToken: ownToken() === null ? token : null,
  }
}
