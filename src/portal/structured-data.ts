import { mediaTypes, pageFormats } from '../query/page-format.js'
import type { ShownColumn, ShownDataset } from '../service/showcase.js'
import type { PageContext } from './page-context.js'

/** More columns would make the page heavy; all of them are in its table. */
const variablesMax = 30

/** The service and its datasets, in the words of schema.org. */
export function catalogData(context: PageContext, datasets: readonly ShownDataset[]): object {
  const { base, words, language } = context
  const site = { name: words.service, url: `${base}/`, description: words.lead }
  return {
    '@graph': [
      { '@type': 'WebSite', ...site, inLanguage: language },
      {
        '@type': 'DataCatalog',
        ...site,
        dataset: datasets.map((dataset) => ({ '@type': 'Dataset', ...named(context, dataset) })),
      },
    ],
  }
}

/** A dataset in the words of schema.org. */
export function datasetData(context: PageContext, dataset: ShownDataset): object {
  const { base, words } = context
  const { name, source, period, version, updatedAt, columns } = dataset
  const owner = { name: words.service, url: `${base}/` }
  return {
    '@type': 'Dataset',
    ...named(context, dataset),
    identifier: name,
    version,
    dateModified: updatedAt,
    ...(source !== null && {
      creator: { '@type': 'Organization', name: source },
      creditText: source,
    }),
    publisher: { '@type': 'Organization', ...owner },
    includedInDataCatalog: { '@type': 'DataCatalog', ...owner },
    ...(period && { temporalCoverage: `${period.first}/${period.last}` }),
    distribution: pageFormats.map((format) => ({
      '@type': 'DataDownload',
      encodingFormat: mediaTypes[format].split(';', 1)[0],
      contentUrl: `${base}/v1/${name}?format=${format}`,
    })),
    variableMeasured: columns
      .filter(({ isQuantity }) => isQuantity)
      .slice(0, variablesMax)
      .map(variableOf),
  }
}

function named({ base }: PageContext, { name, title, description }: ShownDataset): object {
  return {
    name: title,
    description: description ?? title,
    url: `${base}/datasets/${name}`,
  }
}

function variableOf({ name, description, unit }: ShownColumn): object {
  return {
    '@type': 'PropertyValue',
    name,
    ...(description !== null && { description }),
    ...(unit !== null && { unitText: unit }),
  }
}
