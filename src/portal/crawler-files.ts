import { titleIn } from '../registry/portal-schema.js'
import { plainText } from '../plain-text.js'
import type { ShownDataset, Showcase } from '../service/showcase.js'
import { encodeForUrl } from '../query/write-url.js'
import { html, xmlText } from './html.js'
import type { PageContext } from './page-context.js'
import { versionsOf } from './search-tags.js'
import { wordsOf } from './words.js'

/** The beginnings of paths that are of no use to search engines: interfaces, accounts, sign-in. */
const privatePaths = [
  '/v1',
  '/mcp',
  '/account',
  '/usage',
  '/order',
  '/owner',
  '/lost-token',
  '/sign-in',
  '/sign-out',
  '/session',
  '/authorize',
  '/token',
  '/register',
  '/revoke',
  '/hooks',
  '/healthz',
  '/readyz',
  '/datasets/*/find',
  '/datasets/*/compare',
]

/** `robots.txt` (RFC 9309): the portal is for everybody. `root` is the prefix behind a proxy. */
export function robotsText(base: string, root: string): string {
  const refused = privatePaths.map((path) => `Disallow: ${root}${path}`)
  return `User-agent: *\n${refused.join('\n')}\nAllow: ${root}/\n\nSitemap: ${base}/sitemap.xml\n`
}

/** `sitemap.xml`: every public page in every language (sitemaps.org, with links of XHTML). */
export function sitemapText(
  { base, portal }: PageContext,
  datasets: readonly ShownDataset[],
): string {
  const own = Object.keys(portal.pages).map((name) => `/${name}`)
  const pages = [
    ...['/', '/guide', '/docs', ...own].map((path) => ({ path, changed: null })),
    ...datasets.flatMap((each) => {
      const keys = each.entity?.demoKeys ?? []
      const paths = [pathOf(each), ...keys.map((key) => `${pathOf(each)}/${encodeForUrl(key)}`)]
      return paths.map((path) => ({ path, changed: each.updatedAt }))
    }),
  ]
  const urls = pages.flatMap(({ path, changed }) => {
    const versions = versionsOf(base, path)
    const links = versions.map(
      ({ code, href }) => html`<xhtml:link rel="alternate" hreflang="${code}" href="${href}" />`,
    )
    const when = changed === null ? null : html`<lastmod>${changed}</lastmod>`
    return versions.map(({ href }) => html`<url><loc>${href}</loc>${when}${links}</url>`)
  })
  const names = html`xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
  xmlns:xhtml="http://www.w3.org/1999/xhtml"`
  return xmlText(html`<urlset ${names}>${urls}</urlset>`)
}

/** `llms.txt` (llmstxt.org): what is here and how to ask for it, for language models. */
export function llmsText({ base, portal }: PageContext, { datasets, demoToken }: Showcase): string {
  const { lead } = wordsOf('en')
  const demo = datasets.some(({ hasDemo }) => hasDemo) ? demoToken : null
  return `# ${inLine(titleIn('en', portal))}

> ${lead}

Every request has the header \`Authorization: Bearer TOKEN\`. ${tokenText(demo)}

## Datasets

${datasets.map((dataset) => datasetLine(base, dataset)).join('\n') || noneText}

## Interfaces

- [OpenAPI description](${base}/openapi.json): paths, parameters, columns and errors of REST
- [MCP server](${base}/mcp/): the same data as tools for agents, over Streamable HTTP
- [How to use it](${base}/guide?lang=en): examples for curl, Python, agents and Excel
- [API reference](${base}/docs?lang=en): the OpenAPI description as a page
`
}

const noneText = 'No dataset is public. `GET /v1/` lists the datasets that a token can read.'

function tokenText(demo: string | null): string {
  const own = 'A token of your own comes with a plan: plans are on the page of each dataset.'
  if (demo === null) return own
  return `The public demo token \`${demo}\` reads a small subset of the rows. ${own}`
}

function datasetLine(base: string, dataset: ShownDataset): string {
  const { name, title, description, rows, asOf } = dataset
  const facts = [
    `path \`/v1/${name}\``,
    `${rows} rows`,
    ...(asOf === null ? [] : [`data as of ${asOf}`]),
  ]
  const text = description === null ? '' : `${inLine(description)} `
  return `- [${inLine(title)}](${base}${pathOf(dataset)}?lang=en): ${text}(${facts.join(', ')})`
}

function pathOf({ name }: ShownDataset): string {
  return `/datasets/${name}`
}

/** A text as one line of Markdown, without marks of its own. */
function inLine(text: string): string {
  return plainText(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>]/g, '\\$&')
}
