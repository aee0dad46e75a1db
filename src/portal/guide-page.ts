import { curlCommand } from '../service/client-texts.js'
import { codeBlock } from './code-block.js'
import type { Trial } from './dataset-page.js'
import { guideWordsOf } from './guide-words.js'
import { html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'
import { snippetsOf } from './snippets.js'

/** What the examples ask for. */
export interface GuideExample {
  readonly dataset: string
  readonly trial: Trial
}

/** How to ask from a terminal, Python, an agent and Excel, in examples that work as they are. */
export function guidePage(context: PageContext, example: GuideExample | null): string {
  const { words } = context
  const say = guideWordsOf(context.language)
  return layout(
    context,
    { title: `${say.title} · ${words.service}`, description: say.text },
    html`<section class="about">
        <h1>${say.title}</h1>
        <p class="lead">${say.text}</p>
        <p>${noteOf(context, example)}</p>
      </section>
      ${example && examples(context, example)}
      <section>
        <h2 id="errors">${say.errors.title}</h2>
        <p>${say.errors.text}</p>
        <p><a href="${context.link('/docs')}">${words.navigation.reference}</a></p>
      </section>`,
  )
}

function noteOf({ words, language }: PageContext, example: GuideExample | null): string {
  if (example === null) return words.nothingListedMore
  return example.trial.token === null ? words.yourToken : guideWordsOf(language).demo
}

function examples(context: PageContext, { dataset, trial }: GuideExample): readonly Html[] {
  const { base, words, language } = context
  const say = guideWordsOf(language)
  const { query } = trial
  const token = trial.token ?? 'YOUR_TOKEN'
  const snippets = snippetsOf({ baseUrl: base, dataset, kind: 'rows', query, token })
  const textOf = (wanted: string) => snippets.find(({ id }) => id === wanted)?.text ?? ''
  const sheet = `${base}/v1/${dataset}?${query === '' ? '' : `${query}&`}format=xlsx`
  const section = (id: string, title: string, ...parts: readonly (readonly [string, string])[]) =>
    html`<section>
      <h2 id="${id}">${title}</h2>
      ${parts.map(
        ([text, code]) =>
          html`<p>${text}</p>
            ${codeBlock(words, code)}`,
      )}
    </section>`
  return [
    section('curl', say.curl.title, [say.curl.text, trial.line]),
    section('python', say.python.title, [say.python.text, textOf('python')]),
    section('agent', say.agent.title, [say.agent.text, textOf('mcp')]),
    section(
      'spreadsheet',
      say.spreadsheet.title,
      [say.spreadsheet.text, `${curlCommand(sheet, token)} -o ${dataset}.xlsx`],
      [say.spreadsheet.query, textOf('power-query')],
    ),
  ]
}
