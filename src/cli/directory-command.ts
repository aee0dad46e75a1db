import type { Command } from 'commander'
import { readRegistry } from '../catalog.js'
import type { Config } from '../config.js'
import { namedTools } from '../mcp/tools.js'
import { textIn } from '../registry/local-text.js'
import { ownPages, titleIn } from '../registry/portal-schema.js'
import type { PortalSettings } from '../registry/portal-schema.js'
import type { Registry } from '../registry/registry.js'
import { addPrinted } from './command.js'
import type { Result } from './command.js'
import type { CliParts } from './parts.js'
import { listLines } from './table.js'

/** Of a description and a title: the schema of server.json. */
const lettersMax = 100
const schema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
/** What a form of a directory asks for at least. */
const promptsMin = 3

/** `das directory`: what registries of agents ask for, made of the registry and checked. */
export function addDirectory(program: Command, parts: CliParts): void {
  addPrinted(program, parts, {
    usage: 'directory',
    description:
      'Print what directories of MCP servers ask for: server.json, tools with their hints, example ' +
      'prompts, links, and what is missing.',
    settings: ['registry', 'publicUrl'],
    json: 'print {server, tools: [{name, title, hints}], prompts, links, missing}',
    examples: ['das directory', 'das directory --json | jq .server > server.json'],
    run: async (config) => {
      const entry = directoryEntry(await readRegistry(config.registry), config, parts.version)
      return printed(entry, parts)
    },
  })
}

type Entry = ReturnType<typeof directoryEntry>

function directoryEntry(
  registry: Registry,
  { publicUrl }: Pick<Config, 'publicUrl'>,
  version: string,
) {
  const { portal, shop, datasets } = registry
  const base = publicUrl?.replace(/\/$/, '') ?? null
  const pages = ownPages.filter((name) => portal.pages[name] !== undefined)
  const links = {
    website: base,
    ...Object.fromEntries(pages.map((name) => [name, base === null ? null : `${base}/${name}`])),
    contact: portal.legal?.email ?? shop.contact,
  }
  const hasEntity = [...datasets.values()].some(({ entity }) => entity !== undefined)
  const tools = namedTools(hasEntity).map(({ name, annotations: { title, ...hints } }) => ({
    name,
    title,
    hints,
  }))
  const server = serverJson(portal, base, version)
  const prompts = [...examplePrompts(registry)]
  const missing = [
    ...addressProblems(base),
    ...portalProblems(portal, server.description),
    ...(links.contact === null
      ? ['portal.legal.email or shop.contact: an address for support.']
      : []),
    ...(registry.demo === null && !shop.free
      ? ['demo or shop.free: reviewers need access without payment.']
      : []),
    ...(prompts.length < promptsMin
      ? [`prompts: ${promptsMin} examples are needed; add datasets or prompts.`]
      : []),
  ]
  return { server, tools, prompts, links, missing }
}

/** Source: the schema of server.json that it names. */
function serverJson(portal: PortalSettings, base: string | null, version: string) {
  const headline = portal.headline === null ? '' : textIn('en', portal.headline)
  const isShort = headline !== '' && headline.length <= lettersMax
  const logo = { src: `${base}/logo.svg`, mimeType: 'image/svg+xml', sizes: ['any'] }
  return {
    $schema: schema,
    name: base === null ? null : `${new URL(base).hostname.split('.').reverse().join('.')}/data`,
    title: titleIn('en', portal),
    description: isShort ? headline : null,
    version,
    websiteUrl: base,
    ...(base !== null && portal.logo !== null && { icons: [logo] }),
    remotes: base === null ? [] : [{ type: 'streamable-http', url: `${base}/mcp` }],
  }
}

function portalProblems(portal: PortalSettings, description: string | null): readonly string[] {
  const { title, logo, pages } = portal
  const isShort = title !== null && titleIn('en', portal).length <= lettersMax
  return [
    ...(isShort ? [] : [`portal.title: the name of the service, at most ${lettersMax} letters.`]),
    ...(description === null ? [`portal.headline: a line of at most ${lettersMax} letters.`] : []),
    ...(logo === null ? ['portal.logo: an SVG image.'] : []),
    ...(['terms', 'privacy'] as const)
      .filter((name) => pages[name] === undefined)
      .map((name) => `portal.pages.${name}: a page in Markdown.`),
  ]
}

/** What keeps agents of other people from the address. */
function addressProblems(base: string | null): readonly string[] {
  const { protocol, hostname } = new URL(base ?? 'http://localhost')
  const isOpen = protocol === 'https:' && hostname.includes('.') && !/^[\d.]+$|:/.test(hostname)
  return isOpen ? [] : ['DAS_PUBLIC_URL: an https address with a domain, which all can reach.']
}

/** Questions that the tools answer over the listed datasets, and the prompts that take no words. */
function* examplePrompts({ datasets, prompts }: Registry): Generator<string> {
  for (const [name, entry] of datasets) {
    if (entry.listed === false) continue
    const title = textIn('en', entry.title ?? name)
    yield `What does "${title}" hold, and what do its columns mean?`
    if (entry.history !== undefined) yield `How many rows does "${title}" have by ${entry.history}?`
    if (entry.entity === undefined) continue
    yield `Find a company by its name in "${title}" and show its newest figures.`
  }
  for (const { text, arguments: words = [] } of prompts) if (words.length === 0) yield text
}

function printed({ server, tools, prompts, links, missing }: Entry, parts: CliParts): Result {
  const failure = missing.length > 0 ? new Error('A directory would refuse this entry.') : undefined
  const lines = [
    'server.json:',
    ...JSON.stringify(server, null, 2).split('\n'),
    '',
    ...listLines(parts.stdout, tools, {
      tool: ({ name }) => name,
      title: ({ title }) => title,
      hints: ({ hints }) =>
        Object.entries(hints)
          .map((each) => each.join(' '))
          .join(', '),
    }),
    '',
    'Example prompts:',
    ...prompts.map((prompt) => `  ${prompt}`),
    '',
    'Links:',
    ...Object.entries(links).map(([name, link]) => `  ${name}: ${link ?? 'missing'}`),
    ...(missing.length > 0 ? ['', 'Missing:', ...missing.map((line) => `  ${line}`)] : []),
  ]
  return { json: { server, tools, prompts, links, missing }, lines, failure }
}
