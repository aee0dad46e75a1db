import type { Operator } from '../columns/operators.js'
import type { ErrorCode } from '../errors.js'
import { pluralChooser } from '../wording.js'
import { writersOf } from './writers.js'

const { dayOfYear, ...writers } = writersOf('en')
const { number } = writers
const plural = pluralChooser('en')

const operators: Readonly<Record<Operator, string>> = {
  eq: 'equals',
  ne: 'is not (empty left out)',
  gt: 'greater than',
  gte: 'at least',
  lt: 'less than',
  lte: 'at most',
  like: 'begins with',
  contains: 'contains the words',
  in: 'one of',
  not_in: 'none of',
  isdistinct: 'is not (empty kept)',
  is_null: 'is empty',
  not_null: 'is not empty',
}

/** The portal's texts in English. Every other language has the same keys. */
export const englishWords = {
  ...writers,
  operators,

  skip: 'Skip to content',
  languages: 'Language',
  menu: 'Main',
  navigation: { datasets: 'Datasets', reference: 'API reference', account: 'Account' },
  footer: 'No cookie until you sign in, no tracking. A pasted token stays in its tab.',

  ownPages: { terms: 'Terms', privacy: 'Privacy', about: 'About' },
  inn: (digits: string) => `INN ${digits}`,

  headline: 'Real tables, one request away',
  lead:
    'Query these tables over the web: choose filters and columns, and get exact rows as JSON, ' +
    'CSV or Parquet. Try it now with the public demo token; a subscription gives access to all ' +
    'rows.',
  tryLine: 'Paste this into a terminal. It works without signing up:',
  copy: 'Copy',
  copied: 'Copied',
  selected: 'Selected: press Ctrl+C',
  nothingListed: 'No dataset is shown here yet',
  nothingListedMore: 'GET /v1/ lists the datasets that your token can read.',
  datasets: 'Datasets',
  open: 'Open and try',
  rows: 'Rows',
  columns: 'Columns',
  asOf: 'Data as of',
  updatedAt: 'Updated',
  source: 'Source',
  fromPrice: (roubles: string) => `from ${roubles} a month`,
  free: 'Free',
  freePlan: (rows: string) => `free up to ${rows} rows a month`,

  plans: 'Plans and prices',
  noPlans: 'No plan is on sale at the moment.',
  plan: 'Plan',
  rowsPerMonth: 'Rows a month',
  history: 'History',
  requestsPerMinute: 'Requests a minute',
  monthPrice: 'Month',
  yearPrice: 'Year',
  allYears: 'All years',
  lastYears: (years: number) => (years === 1 ? 'Latest year' : `Latest ${number(years)} years`),
  yearNote:
    'A year costs ten months. Rows are counted by calendar month, UTC; empty answers and errors ' +
    'are free.',

  interfaces: 'Three ways in',
  restInterface: 'REST',
  restText: 'Filters, columns and paging are parts of the URL, the same for every dataset.',
  restLink: 'API reference',
  mcpInterface: 'AI agents',
  mcpText: 'Claude, Cursor and other MCP clients read the same data with the same token at',
  mcpLink: 'How to use it: terminal, Python, agents, Excel',
  filesInterface: 'Files',
  filesText: 'CSV, NDJSON and Parquet with exact types, page by page or as a whole export.',
  filesLink: 'OpenAPI description',

  explorer: 'Try it',
  needsScript: 'The explorer needs JavaScript. Without it, use this command:',
  withDemo: 'Demo token: a small subset of the rows, all years.',
  withOwn: 'Your own token. Rows shown here count against your quota.',
  noToken: 'This dataset has no demo. Enter your token to try it.',
  useOwn: 'Use your own token',
  useToken: 'Use it',
  forget: 'Forget the token',
  filters: 'Filters',
  tabs: { rows: 'Rows', analyse: 'Analyse' },
  addFilter: 'Add a filter',
  removeFilter: (column: string) => `Remove the filter on ${column}`,
  column: 'Column',
  operator: 'Operator',
  value: 'Value',
  valueList: 'Values, one a line',
  columnsToShow: 'Columns to show',
  columnsChosen: (chosen: number, all: number) => `${number(chosen)} of ${number(all)}`,
  everyColumn: 'All',
  none: 'None',
  noColumn: 'none ticked, so all are shown',
  findColumn: 'Find a column',
  rowsOfPage: 'Rows on a page',
  limitRange: (max: number) => `1 to ${number(max)}`,
  run: 'Run',
  running: 'Asking…',
  notAsked: 'Press Run to see rows.',
  noRows: 'No row matches these filters.',
  noRowsSeen: (scope: string) =>
    scope.startsWith('demo')
      ? 'The demo token sees only a small subset of the rows.'
      : `Your plan covers only a part of the rows (${scope}).`,
  pageGone: 'This page has expired, or was opened with another token. Press Run to begin again.',
  failed: 'The answer did not arrive. Check the connection and run it again.',
  unreadable: 'The answer could not be read. Ask for fewer rows or columns.',
  refusals: {
    bad_request: 'The request has a mistake. Correct it, and send it again.',
    unauthorized:
      'This token is unknown, was revoked or has expired. Copy it again, or use another one.',
    forbidden: 'Requests from here are not allowed. Open this page at the address of the service.',
    not_found: 'This token gives no access here. See the plans, or use another token.',
    method_not_allowed: 'The service does not take this request. Load the page again.',
    not_acceptable: 'The service does not have this format. Choose another one.',
    conflict: 'The service already received this, with other content.',
    payload_too_large: 'The question is too long. Shorten its lists of values.',
    unsupported_media_type: 'The service can’t read this request. Load the page again.',
    headers_too_large: 'The question is too long. Shorten its lists of values.',
    rate_limit_exceeded: 'Too many requests in one minute.',
    row_quota_exceeded:
      'Too few rows are left of your quota. Ask for fewer, or choose a larger plan.',
    internal_error: 'The service failed. Try again; if that does not help, tell its operator.',
    service_unavailable: 'The service is busy, or the data is not available at the moment.',
    timeout: 'This took too long. Ask for fewer rows, columns, groups or measures.',
  } as Readonly<Record<ErrorCode, string>>,
  retryAfter: (seconds: number) => `Wait ${number(seconds)} s and try again.`,
  retryOn: (time: string) => `The limit resets on ${dayOfYear(time)}.`,
  page: (page: number) => `Page ${number(page)}`,
  pageRows: (rows: number) => `${number(rows)} ${plural(rows, { one: 'row', other: 'rows' })}`,
  sortedBy: (column: string, isDescending: boolean) =>
    `${column}: ${isDescending ? 'largest' : 'smallest'} first`,
  previous: 'Previous page',
  next: 'Next page',
  result: 'Rows of the answer',
  charged: (rows: number) =>
    `This answer cost ${number(rows)} ${plural(rows, { one: 'row', other: 'rows' })}`,
  rowsLeft: (rows: number) => `${number(rows)} rows left this month`,
  requestsLeft: (requests: number, of: number) =>
    `${number(requests)} of ${number(of)} requests left this minute`,
  takeAway: 'Save as',
  allRows: 'All rows (CSV)',
  downloading: 'Loading…',
  saved: (name: string, size: string) => `Saved ${name}, ${size}`,
  cancel: 'Cancel',
  cancelled: 'Cancelled. Rows that were sent already are counted.',
  empty: 'empty',
  chartColumn: 'Shown in the chart',
  chartTitle: (column: string, over: string) => `${column} by ${over}`,
  chartRange: (series: string, first: string, last: string) =>
    `${series}: from ${first} to ${last}`,
  chartNeedsAll:
    'No chart: it would show a part of the rows as the whole. Add filters, or raise the limit.',
  notDrawn: (count: number) => `${number(count)} more are in the table only.`,
  otherGroups: 'Other',
  otherAdded: (count: number) => `“Other” is the sum of ${number(count)} more.`,

  measures: 'Measures',
  measure: 'Measure',
  addMeasure: 'Add a measure',
  otherParts: 'Further parts of the request',
  removePart: (part: string) => `Remove ${part}`,
  removeMeasure: (measure: string) => `Remove the measure ${measure}`,
  countRows: 'number of rows',
  functions: {
    sum: 'sum',
    avg: 'mean',
    median: 'median',
    p10: '10th percentile',
    p90: '90th percentile',
    min: 'smallest value',
    max: 'largest value',
    distinct: 'different values',
    count: 'filled values',
    ratio: 'ratio',
    growth: 'growth',
  } as Readonly<Record<string, string>>,
  groupBy: 'Group by',
  addGroup: 'Add a group',
  removeGroup: (group: string) => `Remove the group ${group}`,
  level: (name: string) => `level ${name}`,
  shareUnit: 'share',
  dateParts: { year: 'year', quarter: 'quarter', month: 'month', day: 'day' } as Readonly<
    Record<string, string>
  >,
  order: 'Order',
  orderByGroups: 'by the groups',
  largestFirst: (key: string) => `${key}, largest first`,
  smallestFirst: (key: string) => `${key}, smallest first`,
  groupsOfAnswer: 'Groups at most',
  notAnalysed: 'Press Run to see a chart and a table.',
  groupsShown: (groups: number) =>
    `${number(groups)} ${plural(groups, { one: 'group', other: 'groups' })}`,
  firstGroups: (shown: number, all: number) =>
    `The first ${number(shown)} of ${number(all)} groups`,
  rowsMet: (rows: number) => `made of ${number(rows)} rows`,
  planWithoutAggregates: 'Your plan has no analysis: it gives rows only. The tab Rows has them.',
  request: 'The request',
  take: 'Use it in your code',
  tools: 'Tools',
  yourToken: 'Replace YOUR_TOKEN with your token.',

  columnsText: 'Type to narrow the list by name, description or unit.',
  search: 'Search columns',
  found: (found: number, all: number) => `${number(found)} of ${number(all)} columns`,
  name: 'Name',
  type: 'Type',
  unit: 'Unit',
  description: 'Description',
  facts: {
    heading: 'Values',
    loading: 'Loading what the columns hold…',
    counted: (rows: number) => `Values: from the ${number(rows)} rows that the token sees.`,
    sampled: (rows: number) =>
      `Values: from ${number(rows)} rows of those that the token sees; others may have more.`,
    late: 'Values: counting took too long. Open the page again later.',
    noRows: 'Values: the token sees no rows.',
    filled: (share: string) => `${share} filled`,
    none: 'empty in every row',
    range: (least: string, greatest: string) => `${least} – ${greatest}`,
    mostIn: (share: string, range: string) => `Histogram: the most, ${share}, in ${range}`,
    valuesInAll: (count: number) => `${number(count)} values in all`,
  },
  byType: 'Filters by type',
  filterForm: 'A filter is written column=operator.value.',
  operatorsOf: 'Operators',
  measuresOf: 'Measures',
  groupsOf: 'Groups',

  referenceText: 'Every path, parameter, column, answer and error of the REST interface.',
  referenceScript: 'This page needs JavaScript. The OpenAPI document can be read without it.',
  referencePublic: 'Public datasets.',
  referenceOwn: 'Datasets of your own token.',

  account: 'Your account',
  accountText:
    'Enter your token to see its plans and usage, and to manage its subscription. It is kept in ' +
    'this tab only, until the tab is closed.',
  token: 'Token',
  notToken: 'This is not a valid token: it contains characters that no token has. Copy it again.',
  show: 'Show the account',
  usedFromNow: 'Requests from this tab now use this token.',
  expires: 'Valid until',
  noEnd: 'No end',
  used: 'Used',
  left: 'Left',
  resets: 'Resets on',
  unlimited: 'Not counted',
  overAll: 'All datasets together',
  thisMonth: 'This month',
  months: 'Rows by month',
  month: 'Month',
  dataset: 'Dataset',
  noUsage: 'No rows were used in the last twelve months.',

  missing: 'Page not found',
  missingText: 'This page does not exist or is not public. All public datasets are on',
  problems: {
    later: 'Not now',
    failed: {
      title: 'Something went wrong',
      text: 'This is a fault of the service. Its operator has it in the log.',
    },
    refused: { title: 'This request can’t be answered', text: 'Go back, and try again.' },
  },
  missingLink: 'the first page',
}

/** The texts that every language has. */
export type PortalWords = typeof englishWords
