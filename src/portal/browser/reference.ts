/*! Swagger UI: Copyright SmartBear Software Inc., Apache License 2.0; it holds React and others. */
import swaggerUi from '@fastify/swagger-ui/static/swagger-ui-bundle.js'
import './reference.css'
import { ask, root } from './ask-page.js'
import { element } from './element.js'
import { words } from './page-words.js'
import { sayRefusal } from './refusal-text.js'
import { ownToken, pastedToken } from './tab-store.js'
import { foldedTokenForm, forgetLine } from './token-form.js'

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

/** In commands to copy, in place of the visitor's own token. */
const placeholder = 'YOUR_TOKEN'

/** A document whose texts are shown as they are, but for code, lists and tables. */
function plainTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isText = key === 'description' && typeof inner === 'string'
      return [key, isText ? withoutMarks(inner) : plainTexts(inner)]
    }),
  )
}

/** Escapes what Markdown and HTML would take for marks outside of code. */
function withoutMarks(text: string): string {
  return text.replace(/`[^`]*`|[<>*_[\]#~&]/g, (part) => (part.length > 1 ? part : `\\${part}`))
}

/** Shows what the visitor's token may ask, or without one the public datasets. */
async function show(place: HTMLElement, bar: HTMLElement): Promise<void> {
  const { query = '', demoToken = '' } = place.dataset
  const token = ownToken()
  bar.replaceChildren(element('p', { role: 'status', class: 'status' }, words.running))
  const answer = await ask(`/openapi.json${query}`, token)
  const tokenBar =
    pastedToken() === null
      ? foldedTokenForm(token === null ? words.referencePublic : words.referenceOwn, () => {
          void show(place, bar)
        })
      : forgetLine(words.referenceOwn, () => location.reload())
  if (answer.kind === 'refused') {
    const text = element('p', { role: 'status', class: 'status error' })
    sayRefusal(text, answer)
    bar.replaceChildren(text, tokenBar)
    return
  }
  bar.replaceChildren(tokenBar)
  if (token !== null) void listDatasets(token)
  const shown = token === null ? demoToken : placeholder
  // The page and the service have one origin, whatever address the document names.
  const servers = [{ url: location.origin + root }]
  const ui = swaggerUi({
    domNode: place,
    spec: { ...(plainTexts(JSON.parse(answer.text)) as object), servers },
    validatorUrl: null,
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    onComplete: () => {
      if (shown !== '') ui.preauthorizeApiKey(scheme, shown)
    },
    showMutatedRequest: false,
    requestInterceptor: (request) => {
      const { Authorization: sent } = request.headers
      if (sent !== `Bearer ${placeholder}` || token === null) return request
      return { ...request, headers: { ...request.headers, Authorization: `Bearer ${token}` } }
    },
    plugins: [bodyAsSent],
  })
}

/** Lists the datasets of a token in place of the public ones. */
async function listDatasets(token: string): Promise<void> {
  const list = document.getElementById('reference-datasets')
  const answer = list && (await ask('/v1/', token))
  if (!list || answer?.kind !== 'text') return
  const { data } = JSON.parse(answer.text) as { readonly data: readonly Listed[] }
  list.replaceChildren(
    ...data.map(({ name, title }) => {
      const href = `${root}/docs/${name}${location.search}`
      const path = element('a', { href }, element('code', {}, `/v1/${name}`))
      return element('li', {}, path, ` ${title}`)
    }),
  )
}

interface Listed {
  readonly name: string
  readonly title: string
}

const place = document.getElementById('reference')
const bar = document.getElementById('reference-token')
document.documentElement.classList.toggle(
  'dark-mode',
  matchMedia('(prefers-color-scheme: dark)').matches,
)
if (place && bar) void show(place, bar)
