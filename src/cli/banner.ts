import type { Catalog } from '../catalog.js'
import type { Dataset } from '../catalog/dataset.js'
import type { Registry } from '../registry/registry.js'
import { curlCommand, mcpConfiguration } from '../service/client-texts.js'
import { examplePath } from '../service/first-questions.js'
import type { Output } from './parts.js'
import { count } from './print.js'

export interface BannerContent {
  readonly version: string
  /** Address of the service, without a slash at the end. */
  readonly base: string
  /** The command to type: `das`, or `npx das`. */
  readonly program: string
  readonly catalog: Catalog
  readonly registry: Registry
  readonly output: Output
}

/** The text at the start: the address, the datasets and a first command. */
export function bannerText(facts: BannerContent): string {
  const { version, base, program, catalog, registry, output } = facts
  const datasets = [...catalog.datasets.values()]
  const first = datasets.find((dataset) => dataset.version && dataset.demo)
  const path = first ? examplePath(registry, first.name, first.version?.columns ?? []) : ''
  const trial =
    catalog.demo && first
      ? [
          'Try it with the public demo token:',
          '',
          `  ${curlCommand(base + path, catalog.demo.token)}`,
          '',
          'To connect an AI agent by MCP, use this configuration:',
          '',
          `  ${JSON.stringify(mcpConfiguration(base, catalog.demo.token))}`,
        ]
      : [
          'No dataset has a demo subset to try. Make a subscription:',
          '',
          `  ${subscribeCommand(program, datasets)}`,
        ]
  const lines = [
    '',
    `Dataset Access Service ${version} at ${base}`,
    '',
    ...datasetLines(output, datasets),
    '',
    `Portal: ${base}/   API reference: ${base}/docs`,
  ]
  return [...lines, '', ...trial, '', ''].join('\n')
}

function datasetLines(output: Output, datasets: readonly Dataset[]): readonly string[] {
  if (datasets.length === 0) {
    return ['  The registry lists no dataset. Add one with: das dataset add FILE']
  }
  const rows = datasets.map(({ version }) => (version ? `${count(output, version.rows)} rows` : ''))
  const nameWidth = Math.max(...datasets.map(({ name }) => name.length))
  const rowsWidth = Math.max(...rows.map((text) => text.length))
  return datasets.map(({ name, title, reason }, index) => {
    const amount = rows[index] ?? ''
    const about = amount ? `${amount.padStart(rowsWidth)}  ${title}` : `unavailable: ${reason}`
    return `  ${name.padEnd(nameWidth)}  ${about}`
  })
}

function subscribeCommand(program: string, datasets: readonly Dataset[]): string {
  const sold = datasets.find(({ plans }) => plans.size > 0)
  const [plan] = sold?.plans.keys() ?? []
  const grant = sold && plan !== undefined ? `${sold.name}:${plan}` : 'DATASET:PLAN'
  return `${program} subscription create --email you@example.org --plan ${grant}`
}
