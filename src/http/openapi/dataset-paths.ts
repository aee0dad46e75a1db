import { exportFormats } from '../../query/page-format.js'
import type { ReferenceDataset } from '../../service/reference.js'
import { aggregateNames, aggregateRefs, summaryExample } from './aggregates.js'
import {
  answers,
  bodyErrors,
  dataAnswer,
  jsonAnswer,
  limits,
  quotas,
  readErrors,
  tokenErrors,
  wholeFormats,
} from './answers.js'
import { parameterRefs, refTo } from './json.js'
import type { Json } from './json.js'
import { filterRefs } from './parameters.js'
import { questionExample } from './question-body.js'

const versionHeaders = [
  'X-Dataset-Version',
  'Last-Modified',
  'Accept-Ranges',
  'X-Scope',
  'X-Hint',
  'Server-Timing',
]
const fileHeaders = [...versionHeaders, 'Content-Disposition']
const dataHeaders = ['ETag', ...fileHeaders, 'X-Rows-Charged', ...limits, ...quotas]
const pageHeaders = [...dataHeaders, 'X-Next-Cursor', 'X-Explained', 'Link']
const topHeaders = [...dataHeaders, 'X-Truncated']
const groupHeaders = [...topHeaders, 'X-Groups', 'X-Rows-Met']

/** The parameters that say in which form an answer comes. */
const answerForm = ['format', 'excel', 'header', 'lang', 'If-None-Match']

const datasetErrors = [...tokenErrors, 'not_found', ...readErrors] as const
const pageErrors = [...datasetErrors, 'not_acceptable', 'row_quota_exceeded'] as const

/** The paths of a dataset. */
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
    [`${path}/versions`]: {
      get: operation('versions', 'versions, newest first', versionsOperation()),
    },
    ...(dataset.hasChanges && {
      [`${path}/changes`]: {
        get: operation('changes', 'what differs since a version', changesOperation(dataset)),
      },
    }),
    [`${path}/export`]: {
      get: operation('export', 'all rows in a stream', exportOperation(dataset)),
    },
    [`${path}/top`]: { get: operation('top', 'the first rows by a column', topOperation(dataset)) },
    ...(dataset.hasEntity && {
      [`${path}/find`]: { get: operation('find', 'entities by name or key', findOperation()) },
    }),
    ...(dataset.hasAggregates && {
      [`${path}/aggregate`]: {
        get: operation('aggregate', 'totals of groups of rows', aggregateOperation(dataset)),
        post: operation('aggregate_json', 'the same, asked in JSON', summaryOperation(dataset)),
      },
    }),
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
      ...parameterRefs(`${name}.select`, `${name}.limit`, 'cursor', 'explain', ...answerForm),
      ...filterRefs(dataset, ['explain']),
    ],
    responses: answers({ 200: pageAnswer(name), 304: refTo('responses', '304') }, pageErrors),
  }
}

function queryOperation(dataset: ReferenceDataset): Json {
  const { name } = dataset
  return {
    description: 'The same question for lists that are too long for a URL. It only reads.',
    requestBody: questionBody(`${name}.Question`, {
      lookup: { summary: 'Rows by a value', value: questionExample(dataset) },
    }),
    responses: answers({ 200: pageAnswer(name) }, [...pageErrors, ...bodyErrors]),
  }
}

function topOperation(dataset: ReferenceDataset): Json {
  const { name } = dataset
  const rows = dataAnswer('The rows.', wholeFormats, `${name}.Page`, topHeaders)
  return {
    description:
      'The rows with the smallest values of a column, or with `-` the largest. Rows without a ' +
      'value are left out; ties come in stored order. There is no cursor.',
    parameters: [
      ...parameterRefs(`${name}.top.by`, `${name}.select`, `${name}.limit`, ...answerForm),
      ...filterRefs(dataset, ['by']),
    ],
    responses: answers({ 200: rows, 304: refTo('responses', '304') }, pageErrors),
  }
}

function findOperation(): Json {
  const found = jsonAnswer('The entities.', 'Found', ['X-Rows-Charged', ...limits, ...quotas])
  return {
    description:
      'Entities, such as companies, by a name as people write it, or by a key or its beginning: ' +
      'the best match first. Each costs its share of a row, and nothing found costs nothing.',
    parameters: parameterRefs('q', 'find.limit', 'explain'),
    responses: answers({ 200: found }, pageErrors),
  }
}

function aggregateOperation(dataset: ReferenceDataset): Json {
  return {
    description:
      'One small row for each group of the rows that the filters find. A group with no more ' +
      'cells than the dataset has columns costs one row of the quota. An answer that costs more ' +
      'than is left is refused whole.',
    parameters: [
      ...aggregateRefs(dataset),
      ...parameterRefs(...answerForm),
      ...filterRefs(dataset, aggregateNames),
    ],
    responses: answers({ 200: groupsAnswer, 304: refTo('responses', '304') }, pageErrors),
  }
}

function summaryOperation(dataset: ReferenceDataset): Json {
  return {
    description: 'The same question for filters that are too long for a URL. It only reads.',
    requestBody: questionBody(`${dataset.name}.Summary`, {
      totals: { summary: 'The largest groups', value: summaryExample(dataset) },
    }),
    responses: answers({ 200: groupsAnswer }, [...pageErrors, ...bodyErrors]),
  }
}

const groupsAnswer = dataAnswer('The groups.', wholeFormats, 'Groups', groupHeaders)

function schemaOperation(): Json {
  const schema = jsonAnswer('The dataset.', 'Dataset', ['ETag', ...limits, ...quotas])
  return {
    description: 'Each column with its type, unit, description and operators; ready examples.',
    parameters: parameterRefs('facts', 'facts.labels', 'If-None-Match'),
    responses: answers({ 200: schema, 304: refTo('responses', '304') }, datasetErrors),
  }
}

function versionsOperation(): Json {
  const versions = jsonAnswer('The versions.', 'VersionList', ['ETag', ...limits, ...quotas])
  return {
    description:
      'The versions whose changes are kept, and whether they are ready. It costs no rows.',
    parameters: parameterRefs('If-None-Match'),
    responses: answers({ 200: versions, 304: refTo('responses', '304') }, datasetErrors),
  }
}

function changesOperation(dataset: ReferenceDataset): Json {
  const { name } = dataset
  const headers = ['ETag', ...versionHeaders, 'X-Rows-Charged', ...limits, ...quotas, 'Link']
  const changes = jsonAnswer('The changes, by key.', `${name}.Changes`, headers)
  return {
    description:
      'Rows added, changed or removed since a version, as this token sees them: the net effect ' +
      'of all versions since then. `version` is the next `since`. A removed row has its key ' +
      'alone. Each change costs one row of the quota.',
    parameters: [
      ...parameterRefs('since', 'watch', `${name}.select`, `${name}.limit`, 'cursor'),
      ...parameterRefs('If-None-Match'),
      ...filterRefs(dataset, ['since', 'watch']),
    ],
    responses: answers({ 200: changes, 304: refTo('responses', '304') }, pageErrors),
  }
}

function exportOperation(dataset: ReferenceDataset): Json {
  const { name } = dataset
  const headers = [...fileHeaders, ...limits, ...quotas]
  const rows = dataAnswer('The rows as a stream.', exportFormats, `${name}.Page`, headers)
  return {
    description:
      'Every row that the filters find, page by page from one version, charged as it goes. In ' +
      'NDJSON a line `{"cursor"}` follows each page, to resume from, and the last line is ' +
      '`{"complete": true, "rows", "version"}`; CSV is whole when the trailer `X-Rows` arrives. ' +
      'Read it as a stream, line by line.',
    parameters: [
      ...parameterRefs(`${name}.select`, 'cursor', 'export.format', 'header', 'lang'),
      ...filterRefs(dataset),
    ],
    responses: answers({ 200: rows }, pageErrors),
  }
}

function questionBody(schema: string, examples: Json): Json {
  const content = { schema: refTo('schemas', schema), examples }
  return { required: true, content: { 'application/json': content } }
}

function pageAnswer(name: string): Json {
  return dataAnswer('The page.', wholeFormats, `${name}.Page`, pageHeaders)
}
