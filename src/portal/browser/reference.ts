import swaggerUi from '@fastify/swagger-ui/static/swagger-ui-bundle.js'
import './reference.css'
import { ask } from './ask-page.js'
import { button, element } from './element.js'
import { words } from './page-words.js'
import { refusalText } from './refusal-text.js'
import { forgetToken, ownToken } from './tab-store.js'
import { foldedTokenForm } from './token-form.js'

/** As the document names it. */
const scheme = 'token'

interface TextBody {
  readonly content: unknown
}

interface React {
  readonly createElement: (...parts: readonly unknown[]) => unknown
}

/** Shows a text as it arrived: Swagger UI would reorder the columns and round long numbers. */
const bodyAsSent = ({ React }: { readonly React: React }) => ({
  wrapComponents: {
    responseBody: (Original: unknown) => (properties: TextBody) =>
      typeof properties.content === 'string'
        ? React.createElement('pre', { className: 'microlight' }, properties.content)
        : React.createElement(Original, properties),
  },
})

/** Shows what the visitor's token may ask, or without one the public datasets. */
async function show(place: HTMLElement, bar: HTMLElement): Promise<void> {
  const { query = '', demoToken = '' } = place.dataset
  const token = ownToken()
  bar.replaceChildren(element('p', { role: 'status', class: 'status' }, words.running))
  const answer = await ask(`/openapi.json${query}`, token)
  const tokenBar = token === null ? tokenForm(place, bar) : forgetLine()
  if (answer.kind === 'refused') {
    const text = element('p', { role: 'status', class: 'status error' }, refusalText(answer))
    bar.replaceChildren(text, tokenBar)
    return
  }
  bar.replaceChildren(tokenBar)
  const known = token ?? demoToken
  const ui = swaggerUi({
    domNode: place,
    // The page and the service have one origin, whatever address the document names.
    spec: { ...JSON.parse(answer.text), servers: [{ url: location.origin + rootOf() }] },
    validatorUrl: null,
    deepLinking: true,
    docExpansion: query === '' ? 'none' : 'list',
    defaultModelsExpandDepth: 0,
    onComplete: () => {
      if (known !== '') ui.preauthorizeApiKey(scheme, known)
    },
    plugins: [bodyAsSent],
  })
}

function rootOf(): string {
  return document.documentElement.dataset['root'] ?? ''
}

function tokenForm(place: HTMLElement, bar: HTMLElement): HTMLElement {
  return foldedTokenForm(words.referencePublic, () => {
    void show(place, bar)
  })
}

function forgetLine(): HTMLElement {
  const forget = button(words.forget, () => {
    forgetToken()
    location.reload()
  })
  return element('p', { class: 'line' }, words.referenceOwn, forget)
}

const place = document.getElementById('reference')
const bar = document.getElementById('reference-token')
document.documentElement.classList.toggle(
  'dark-mode',
  matchMedia('(prefers-color-scheme: dark)').matches,
)
if (place && bar) void show(place, bar)
