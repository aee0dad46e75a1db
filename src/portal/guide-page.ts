import { curlCommand } from '../service/client-texts.js'
import { codeBlock } from './code-block.js'
import type { Trial } from './dataset-page.js'
import { guideWordsOf } from './guide-words.js'
import type { GuideSection } from './guide-words.js'
import { html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'
import { snippetsOf } from './snippets.js'

/** What the examples ask for. */
interface GuideExample {
  readonly dataset: string
  readonly trial: Trial
}

/** How to ask from a terminal, Python, an agent and Excel, in examples that work as they are. */
export function guidePage(context: PageContext, example: GuideExample | null): string {
  const { words, link } = context
  const { title, lead, demo, errors } = guideWordsOf(context.language)
  const ownToken = example === null ? words.nothingListedMore : words.yourToken
  const token = example?.trial.token ?? null
  return layout(
    context,
    { title: `${title} · ${words.service}`, description: lead },
    html`<section class="about">
        <h1>${title}</h1>
        <p class="lead">${lead}</p>
        <p>${token === null ? ownToken : demo}</p>
      </section>
      ${example && examples(context, example)} ${section(context, 'errors', errors, [])}
      <p><a href="${link('/docs')}">${words.navigation.reference}</a></p>`,
  )
}

function examples(context: PageContext, { dataset, trial }: GuideExample): readonly Html[] {
  const { base: baseUrl, language } = context
  const { curl, python, agent, spreadsheet } = guideWordsOf(language)
  const { query } = trial
  const token = trial.token ?? 'YOUR_TOKEN'
  const snippets = snippetsOf({ baseUrl, dataset, kind: 'rows', query, token })
  const textOf = (wanted: string) => snippets.find(({ id }) => id === wanted)?.text ?? ''
  const sheet = `${baseUrl}/v1/${dataset}?${query === '' ? '' : `${query}&`}format=xlsx`
  const saving = `${curlCommand(sheet, token)} -o ${dataset}.xlsx`
  return [
    section(context, 'curl', curl, [trial.line]),
    section(context, 'python', python, [textOf('python')]),
    section(context, 'agent', agent, [textOf('mcp')]),
    section(context, 'spreadsheet', spreadsheet, [saving, textOf('power-query')]),
  ]
}

/** Each text with its code below, if it has one. */
function section(
  { words }: PageContext,
  id: string,
  [title, ...texts]: GuideSection,
  codes: readonly string[],
): Html {
  const parts = texts.map((text, index) => {
    const code = codes[index]
    return html`<p>${text}</p>
      ${code === undefined ? null : codeBlock(words, code)}`
  })
  return html`<section>
    <h2 id="${id}">${title}</h2>
    ${parts}
  </section>`
}
