/** The page's own files; the others come from the Swagger UI package. */
export const startScript = `'use strict'

const page = document.getElementById('reference')
const { demoToken, document: documentAddress } = page.dataset
/** The token whose document is shown; null = the public document. It never leaves this tab. */
const shown = { token: null }

async function show(token, { specActions }) {
  if (token === shown.token) return
  shown.token = token
  const headers = token === null ? {} : { Authorization: 'Bearer ' + token }
  const answer = await fetch(documentAddress, { headers })
  const text = await answer.text()
  // The user has authorized or logged out in the meantime.
  if (token !== shown.token) return
  if (answer.ok) specActions.updateSpec(text)
  else shown.token = undefined
}

/** A user who authorizes sees the datasets of their own token. */
const followToken = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (original, system) => (payload) => {
          const { value } = payload.token
          void show(value === demoToken ? null : value, system)
          return original(payload)
        },
        logout: (original, system) => (names) => {
          void show(null, system)
          return original(names)
        },
      },
    },
  },
})

const viewer = SwaggerUIBundle({
  url: documentAddress,
  domNode: page,
  plugins: [followToken],
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
  onComplete: () => {
    if (demoToken !== '') viewer.preauthorizeApiKey('token', demoToken)
  },
})

const dark = matchMedia('(prefers-color-scheme: dark)')
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followScheme)
followScheme()
`

/** Overrides the viewer's own style: datasets appear sooner, and wide tables fit a phone. */
export const startStyle = `html { color-scheme: light dark; }
body { margin: 0; }
nav { padding: 12px 20px; font: 16px/1.5 system-ui, sans-serif; }
nav a { color: #2349b8; }
.dark-mode nav a { color: #93b1ff; }
.swagger-ui .info { margin: 24px 0 0; }
.swagger-ui .info table tbody tr td { padding: 5px 16px 5px 0; }
.swagger-ui .servers-title, .swagger-ui .servers { display: none; }
.swagger-ui .scheme-container { margin: 0; padding: 8px 0; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .parameter__enum { max-height: 5em; overflow: auto; }
`

/** The page may only load its own files and send requests to this server. */
export const contentSecurity = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Returns the page of the API reference. `root` precedes each path and is safe in a URL; `fileOf`
 * returns the path of a file; the demo token is public, safe in HTML, and may be null.
 */
export function docsPage(
  root: string,
  fileOf: (file: string) => string,
  demoToken: string | null,
): string {
  const addressOf = (file: string) => `${root}/${fileOf(file)}`
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${addressOf('swagger-ui.css')}">
    <link rel="stylesheet" href="${addressOf('start.css')}">
  </head>
  <body>
    <nav aria-label="Portal"><a href="${root}/">← Datasets and prices</a></nav>
    <noscript>Without JavaScript, read <a href="${root}/openapi.json">/openapi.json</a>.</noscript>
    <main
      id="reference"
      data-demo-token="${demoToken ?? ''}"
      data-document="${root}/openapi.json"
    ></main>
    <script src="${addressOf('swagger-ui-bundle.js')}"></script>
    <script src="${addressOf('start.js')}"></script>
  </body>
</html>
`
}
