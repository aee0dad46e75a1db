import { operatorNames, operators } from '../../columns/operators.js'
import { recordOf } from '../../registry/shape.js'
import {
  AccountSchema,
  DatasetListSchema,
  DatasetSchema,
  FoundSchema,
  ReadySchema,
  StatusSchema,
  VersionListSchema,
} from '../../service/answer-schemas.js'
import type { ReferenceDataset } from '../../service/reference.js'
import { errorAnswers, errorSchema, headerRefs, headers, wholeFormats } from './answers.js'
import {
  aggregateParameters,
  functionTable,
  groupsSchema,
  sharedAggregateParameters,
  summarySchema,
} from './aggregates.js'
import { datasetPaths } from './dataset-paths.js'
import { filterSchema, filterSchemaName, writtenFilter } from './filters.js'
import { refTo } from './json.js'
import type { Json } from './json.js'
import { datasetParameters, sharedParameters } from './parameters.js'
import { filtersSchema, questionSchema } from './question-body.js'
import { changesSchema, rowSchema } from './rows.js'
import { servicePaths, serviceTag } from './service-paths.js'
import { webhookSchemas } from './webhook-paths.js'

/** The REST interface of the service of this title to these datasets as OpenAPI 3.1, at `url`. */
export function openApiDocument(
  datasets: readonly ReferenceDataset[],
  title: string,
  url: string,
): Json {
  const paths = withHead(
    Object.assign(
      {},
      ...datasets.map(datasetPaths),
      servicePaths(datasets.some(({ hasEntity }) => hasEntity)),
    ),
  )
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '1',
      description: introduction(),
      contact: { name: 'The operator of this server' },
    },
    servers: [{ url, description: 'The server that this document came from' }],
    security: [{ token: [] }],
    tags: [...datasets.map(datasetTag), { name: serviceTag, description: 'Token and server.' }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token that you were given.' },
      },
      ...usedIn(paths, {
        schemas: schemas(datasets),
        parameters: Object.assign(
          { ...sharedParameters, ...sharedAggregateParameters },
          ...datasets.map(datasetParameters),
          ...datasets.map(aggregateParameters),
        ),
        responses: { 304: unchanged, ...errorAnswers },
        headers,
      }),
    },
  }
}

/** Every GET path also answers HEAD, with the same checks and headers, and without a body. */
function withHead(paths: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => {
      const get = operations['get']
      return [path, get === undefined ? operations : { ...operations, head: headOf(recordOf(get)) }]
    }),
  )
}

/** Without the filters, which would double what is generated from the document. */
function headOf({ operationId, summary, parameters = [], responses, ...rest }: Json): Json {
  const { 200: ok, ...others } = recordOf(responses)
  const { content, ...head } = recordOf(ok)
  const all = parameters as readonly Json[]
  const kept = all.filter(({ $ref }) => !String($ref).includes('.filter.'))
  const more = kept.length < all.length ? ' It takes the filters of GET too.' : ''
  return {
    ...rest,
    operationId: `${String(operationId)}_head`,
    summary: `${String(summary)}: headers only`,
    description: `Checks the request and answers without a body; reads and charges no row.${more}`,
    ...(kept.length > 0 && { parameters: kept }),
    responses: { 200: head, ...others },
  }
}

/** The query grammar in words and tables, for rules that a schema can't express. */
function introduction(): string {
  const rows = operatorNames.map(
    (name) => `| \`${writtenFilter(name)}\` | ${operators[name].meaning} |`,
  )
  return [
    'Read-only tables over HTTP. Every path but this reference and the two checks of health needs',
    'the header `Authorization: Bearer <token>`.',
    '',
    'A filter is `column=operator.value`: the value is everything after the first dot. All filters',
    'hold together. A list is `in.one,two`; an element with a comma, a quote or a backslash is',
    'written in double quotes.',
    '',
    '| filter | meaning |',
    '| --- | --- |',
    ...rows,
    '',
    'A page has a `next_cursor`: send the same request with it as `cursor` for the next page. It',
    'is null on the last page.',
    '',
    'Aggregates answer with totals of groups, made of these functions. `p1` to `p99` are `pN`;',
    '`count` alone counts rows.',
    '',
    ...functionTable(),
  ].join('\n')
}

function datasetTag({ name, title, description, source }: ReferenceDataset): Json {
  const words = [title, description, source === null ? null : `Source: ${source}`]
  return { name, description: words.filter((each) => each !== null).join('\n\n') }
}

function schemas(datasets: readonly ReferenceDataset[]): Json {
  const columns = datasets.flatMap((dataset) => dataset.columns)
  // The first column of a type gives its example.
  const examples = new Map(columns.reverse().map(({ rules }) => [rules.shown, rules.example]))
  return {
    ...Object.assign({}, ...datasets.map(datasetSchemas)),
    ...Object.fromEntries(
      [...examples].map(([type, example]) => [filterSchemaName(type), filterSchema(type, example)]),
    ),
    DatasetList: DatasetListSchema,
    Dataset: DatasetSchema,
    Account: AccountSchema,
    Status: StatusSchema,
    Ready: ReadySchema,
    VersionList: VersionListSchema,
    Groups: groupsSchema,
    Found: FoundSchema,
    ...webhookSchemas,
    Format: { type: 'string', enum: wholeFormats, default: 'json' },
    Document: { type: 'object', required: ['openapi', 'info', 'paths'] },
    Error: errorSchema,
  }
}

function datasetSchemas(dataset: ReferenceDataset): Json {
  const { name, columns } = dataset
  return {
    [`${name}.Column`]: { type: 'string', enum: columns.map((column) => column.name) },
    [`${name}.Filters`]: filtersSchema(dataset),
    [`${name}.Question`]: questionSchema(dataset),
    [`${name}.Summary`]: summarySchema(dataset),
    [`${name}.Row`]: rowSchema(columns),
    [`${name}.Page`]: {
      type: 'object',
      required: ['data', 'next_cursor'],
      properties: {
        data: { type: 'array', items: refTo('schemas', `${name}.Row`) },
        next_cursor: { type: ['string', 'null'], description: 'Null on the last page.' },
      },
    },
    [`${name}.Changes`]: changesSchema(refTo('schemas', `${name}.Row`)),
  }
}

const unchanged: Json = {
  description: 'What you have is still the answer.',
  headers: headerRefs(['ETag']),
}

/** The components that the document references: without datasets it needs few. */
function usedIn(paths: Json, components: Readonly<Record<string, Json>>): Json {
  const text = JSON.stringify([paths, components])
  const refs = new Set([...text.matchAll(/"#\/components\/([^"]+)"/g)].map(([, target]) => target))
  const used = (kind: string, named: Json) =>
    Object.entries(named).filter(([name]) => refs.has(`${kind}/${name}`))
  return Object.fromEntries(
    Object.entries(components).map(([kind, named]) => [
      kind,
      Object.fromEntries(used(kind, named)),
    ]),
  )
}
