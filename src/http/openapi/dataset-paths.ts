import { exportFormats, pageFormats } from '../../query/page-format.js'
import type { PageFormat } from '../../query/page-format.js'
import type { ReferenceDataset } from '../../service/reference.js'
import { mediaTypes } from '../page-formats.js'
import {
  answers,
  headerRefs,
  jsonAnswer,
  limits,
  quotas,
  readErrors,
  tokenErrors,
} from './answers.js'
import { refTo } from './json.js'
import type { Json } from './json.js'
import { filterRefs } from './parameters.js'
import { questionExample } from './question-body.js'

const versionHeaders = ['X-Dataset-Version', 'Last-Modified', 'X-Scope']
const pageHeaders = ['ETag', ...versionHeaders, 'X-Next-Cursor', 'Link', ...limits, ...quotas]

const datasetErrors = [...tokenErrors, 'not_found', ...readErrors] as const
const pageErrors = [...datasetErrors, 'not_acceptable', 'row_quota_exceeded'] as const

/** The four paths of a dataset. */
export function datasetPaths(dataset: ReferenceDataset): Readonly<Record<string, Json>> {
  const { name } = dataset
  const path = `/v1/${name}`
  const operation = (id: string, summary: string, rest: Json): Json => ({
    operationId: `${name}_${id}`,
    tags: [name],
    summary,
    ...rest,
  })
  return {
    [path]: { get: operation('rows', 'a page of rows', pageOperation(dataset)) },
    [`${path}/query`]: {
      post: operation('query', 'a page of rows, asked in JSON', queryOperation(dataset)),
    },
    [`${path}/schema`]: { get: operation('schema', 'columns and limits', schemaOperation()) },
    [`${path}/export`]: {
      get: operation('export', 'all rows in a stream', exportOperation(dataset)),
    },
  }
}

function pageOperation(dataset: ReferenceDataset): Json {
  const { name, requireFilter } = dataset
  return {
    description:
      'Rows in stored order. Filters are `column=operator.value`; all of them hold, and a column ' +
      'may have several.' +
      (requireFilter ? ' The first page needs a filter.' : ''),
    parameters: [
      refTo('parameters', `${name}.select`),
      refTo('parameters', `${name}.limit`),
      refTo('parameters', 'cursor'),
      refTo('parameters', 'format'),
      refTo('parameters', 'If-None-Match'),
      ...filterRefs(dataset),
    ],
    responses: answers({ 200: pageAnswer(name), 304: refTo('responses', '304') }, pageErrors),
  }
}

function queryOperation(dataset: ReferenceDataset): Json {
  const { name } = dataset
  return {
    description: 'The same question for lists that are too long for a URL. It only reads.',
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: refTo('schemas', `${name}.Question`),
          examples: { lookup: { summary: 'Rows by a value', value: questionExample(dataset) } },
        },
      },
    },
    responses: answers({ 200: pageAnswer(name) }, [
      ...pageErrors,
      'payload_too_large',
      'unsupported_media_type',
    ]),
  }
}

function schemaOperation(): Json {
  return {
    description: 'Each column with its type, unit, description and operators; ready examples.',
    parameters: [refTo('parameters', 'If-None-Match')],
    responses: answers(
      {
        200: jsonAnswer('The dataset.', 'Dataset', ['ETag', ...limits, ...quotas]),
        304: refTo('responses', '304'),
      },
      datasetErrors,
    ),
  }
}

function exportOperation(dataset: ReferenceDataset): Json {
  const { name } = dataset
  const content = exportFormats.map((format) => [essence(mediaTypes[format]), bodyOf(format, name)])
  return {
    description:
      'Every row that the filters find, page by page from one version, charged as it goes. In ' +
      'NDJSON a line `{"cursor"}` follows each page, to resume from, and the last line is ' +
      '`{"complete": true, "rows", "version"}`; CSV is whole when the trailer `X-Rows` arrives.',
    parameters: [
      refTo('parameters', `${name}.select`),
      refTo('parameters', 'cursor'),
      refTo('parameters', 'export.format'),
      ...filterRefs(dataset),
    ],
    responses: answers(
      {
        200: {
          description: 'The rows as a stream.',
          headers: headerRefs([...versionHeaders, ...limits, ...quotas]),
          content: Object.fromEntries(content),
        },
      },
      pageErrors,
    ),
  }
}

function pageAnswer(name: string): Json {
  const content = pageFormats.map((format) => [essence(mediaTypes[format]), bodyOf(format, name)])
  return {
    description: 'The page.',
    headers: headerRefs(pageHeaders),
    content: Object.fromEntries(content),
  }
}

function essence(mediaType: string): string {
  return mediaType.split(';', 1)[0] ?? ''
}

/** Only JSON has a schema; binary data has none (OpenAPI 3.1, 4.8.14.1). */
function bodyOf(format: PageFormat, name: string): Json {
  switch (format) {
    case 'json':
      return { schema: refTo('schemas', `${name}.Page`) }
    case 'ndjson':
    case 'csv':
      return { schema: { type: 'string' } }
    default:
      return {}
  }
}
