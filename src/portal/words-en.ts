import type { Operator } from '../catalog/operators.js'
import { numberWriter, pluralChooser } from '../mail/wording.js'
import { dayWriter, digitWriter, monthWriter, roubleWriter } from './writers.js'

const number = numberWriter('en')
const plural = pluralChooser('en')

const operators: Readonly<Record<Operator, string>> = {
  eq: 'equals',
  ne: 'is not (empty left out)',
  gt: 'greater than',
  gte: 'at least',
  lt: 'less than',
  lte: 'at most',
  like: 'begins with',
  in: 'one of',
  not_in: 'none of',
  isdistinct: 'is not (empty kept)',
  is_null: 'is empty',
  not_null: 'is not empty',
}

/** The portal in English; the other languages have the same keys. */
export const englishWords = {
  number,
  roubles: roubleWriter('en'),
  day: dayWriter('en'),
  monthName: monthWriter('en'),
  digits: digitWriter('en'),
  operators,

  service: 'Dataset Access Service',
  skip: 'Skip to content',
  languages: 'Language',
  menu: 'Main',
  navigation: { datasets: 'Datasets', reference: 'API reference', usage: 'Your usage' },
  footer: 'No cookies, no tracking. Your token stays in this tab.',

  headline: 'Real tables, one request away',
  lead:
    'Every dataset here is a table that you ask over the web: choose filters and columns, and get ' +
    'exact rows as JSON, CSV or Parquet. Try it now with the public demo token; a subscription ' +
    'opens the rest.',
  tryLine: 'Paste this into a terminal. It works now, without signing up:',
  copy: 'Copy',
  copied: 'Copied',
  selected: 'Selected: press Ctrl+C',
  nothingListed: 'No dataset is shown here yet',
  nothingListedMore: 'Come back later, or ask with your token: GET /v1/ lists what it can see.',
  datasets: 'Datasets',
  open: 'Open and try',
  rows: 'Rows',
  columns: 'Columns',
  asOf: 'Updated',
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

  doors: 'Three ways in',
  restDoor: 'REST',
  restText: 'A URL is a question. Filters, columns and paging work the same for every dataset.',
  restLink: 'API reference',
  mcpDoor: 'AI agents',
  mcpText: 'Claude, Cursor and other MCP clients read the same data with the same token at',
  mcpLink: 'Configuration, with each dataset',
  filesDoor: 'Files',
  filesText: 'CSV, NDJSON and Parquet with exact types, page by page or as a whole export.',
  filesLink: 'OpenAPI description',

  explorer: 'Try it',
  needsScript: 'The explorer needs JavaScript. Without it, this line asks the same:',
  withDemo: 'Demo token: sees a small subset of the rows, all years.',
  withOwn: 'Your own token. Rows that you see here are counted.',
  noToken: 'This dataset has no demo. Enter your token to try it.',
  useOwn: 'Use your own token',
  forget: 'Forget the token',
  filters: 'Filters',
  addFilter: 'Add a filter',
  removeFilter: (column: string) => `Remove the filter on ${column}`,
  column: 'Column',
  operator: 'Operator',
  value: 'Value',
  valueList: 'Values, one a line',
  columnsToShow: 'Columns to show',
  columnsChosen: (chosen: number, all: number) => `${number(chosen)} of ${number(all)}`,
  everyColumn: 'All',
  findColumn: 'Find a column',
  rowsOfPage: 'Rows on a page',
  limitRange: (max: number) => `1 to ${number(max)}`,
  run: 'Run',
  running: 'Asking…',
  notAsked: 'Press Run to see rows.',
  noRows: 'No row fits these filters.',
  failed: 'The answer did not arrive. Check the connection and run it again.',
  retryAfter: (seconds: number) => `Wait ${number(seconds)} s and run it again.`,
  page: (page: number) => `Page ${number(page)}`,
  pageRows: (rows: number) => `${number(rows)} ${plural(rows, { one: 'row', other: 'rows' })}`,
  previous: 'Previous page',
  next: 'Next page',
  result: 'Rows of the answer',
  rowsLeft: (rows: number) => `${number(rows)} rows left this month`,
  requestsLeft: (requests: number, of: number) =>
    `${number(requests)} of ${number(of)} requests left this minute`,
  empty: 'empty',
  chartColumn: 'Column of the chart',
  chartTitle: (column: string, over: string) => `${column} by ${over}`,
  chartRange: (series: string, first: string, last: string) =>
    `${series}: from ${first} to ${last}`,
  request: 'The request',
  take: 'Take it with you',
  tools: 'Tools',
  yourToken: 'Put your token where it says YOUR_TOKEN.',

  columnsText: 'Type to narrow the list by name, description or unit.',
  search: 'Search columns',
  found: (found: number, all: number) => `${number(found)} of ${number(all)} columns`,
  name: 'Name',
  type: 'Type',
  unit: 'Unit',
  description: 'Description',
  byType: 'Filters by type',
  filterForm: 'A filter is written column=operator.value.',
  operatorsOf: 'Operators',

  usage: 'Your usage',
  usageText:
    'Enter your token to see what it may do and what is used. It is kept in this tab only and is ' +
    'gone when the tab is closed.',
  token: 'Token',
  show: 'Show usage',
  needsScriptUsage: 'This page needs JavaScript. Without it, GET /v1/account says the same.',
  usedFromNow: 'Requests from this tab now use this token.',
  subscription: 'Subscription',
  expires: 'Valid until',
  noEnd: 'No end',
  used: 'Used',
  left: 'Left',
  resets: 'Starts anew',
  unlimited: 'Not counted',
  overAll: 'All datasets together',
  thisMonth: 'This month',
  months: 'Rows by month',
  month: 'Month',
  dataset: 'Dataset',
  noUsage: 'No rows were used in the last twelve months.',

  missing: 'Nothing is here',
  missingText: 'The page does not exist, or is not public. The datasets that are shown stand on',
  missingLink: 'the first page',
}

/** What every language says. */
export type Words = typeof englishWords
