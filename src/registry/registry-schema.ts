import Type from 'typebox'
import type { Static } from 'typebox'
import { prefixLengthMax } from '../columns/codes.js'
import { labelLettersMax } from '../columns/column.js'
import { parseDate } from '../columns/values.js'
import { PortalSchema } from './portal-schema.js'
import { PromptsSchema } from './prompt-schema.js'
import { objectOf } from './shape.js'
import { ShopSchema } from './shop-schema.js'

/** The shape of registry.yaml. A `description` completes "must be …" in error messages. */
const text = Type.String({ minLength: 1, description: 'a text' })
const flag = Type.Boolean({ description: 'true or false' })
const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
  description: 'a single value: a text, a number, true or false',
})
const count = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of at least 1')
/** The most that a month of a plan costs: the sum of any order is exact, and has words. */
const monthRubMax = 1_000_000_000
const strict = { additionalProperties: false }
/** Texts for people: the API serves the English one, pages and letters both. */
const localText = Type.Union([text, Type.Object({ en: text, ru: text }, strict)], {
  description: 'a text, or an object {en, ru}',
})
const labelText = Type.Refine(
  Type.String({ minLength: 1, description: `a text of at most ${labelLettersMax} characters` }),
  (value) => [...value].length <= labelLettersMax,
)
const label = Type.Union([labelText, Type.Object({ en: labelText, ru: labelText }, strict)], {
  description: `a text of at most ${labelLettersMax} characters, or an object {en, ru}`,
})
/** Any text: the pattern for a plain string key does not match a line break. */
const anyName = Type.String({ pattern: '^[^]*$' })

/** The types that the registry may state for a column, by the names that callers see. */
export const statedTypes = [
  'integer',
  'number',
  'string',
  'boolean',
  'date',
  'timestamp',
  'time',
] as const

const pageRowsMax = 100_000
const historyYearsMax = 1000
const demoValuesMax = 1000
const keepHoursMax = 8760
const keepDaysMax = 3650
const rowsPerGroupMax = 1000

function wholeNumber(minimum: number, maximum: number, description: string) {
  return Type.Integer({ minimum, maximum, description })
}

function oneOrMany<T extends Type.TSchema>(item: T, description: string) {
  return Type.Union([item, Type.Array(item, { minItems: 1 })], { description })
}

const pageRows = wholeNumber(1, pageRowsMax, `a whole number of rows, 1 to ${pageRowsMax}`)

const dateOfData = Type.Refine(
  Type.Union([Type.String(), Type.Integer()], {
    description: 'a year, a month or a day: 2024, 2024-12 or 2024-12-31',
  }),
  (value) =>
    /^\d{4}(-\d\d){0,2}$/.test(String(value)) &&
    parseDate(`${value}-01-01`.slice(0, 10)) !== undefined,
)

/** Without a user and a password: the registry is no place for them. */
const clusterUrl = Type.Refine(
  Type.String({ description: 'an http:// or https:// URL without user and password' }),
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : null
    const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
    return url !== null && isHttp && url.username === '' && url.password === ''
  },
)

const LimitSchema = objectOf('an object {default, max}', {
  default: Type.Optional(pageRows),
  max: Type.Optional(pageRows),
})

const levelText = `a whole number of characters, 1 to ${prefixLengthMax}, or a column of the labels`
const charsOfLevel = wholeNumber(1, prefixLengthMax, levelText)
const LevelsSchema = Type.Record(
  anyName,
  Type.Union(
    [
      charsOfLevel,
      text,
      Type.Object(
        {
          chars: Type.Optional(charsOfLevel),
          column: Type.Optional(text),
          label: Type.Optional(label),
        },
        strict,
      ),
    ],
    { description: `${levelText}, or an object {chars, label} or {column, label}` },
  ),
  { minProperties: 1, description: 'a map of at least one level to its number of characters' },
)

const columnShape =
  'an object {name, label, section, description, unit, hidden, json, type, levels, labels, ' +
  'search, check}'
const ColumnSchema = objectOf(columnShape, {
  name: Type.Optional(text),
  label: Type.Optional(label),
  section: Type.Optional(localText),
  description: Type.Optional(localText),
  unit: Type.Optional(localText),
  hidden: Type.Optional(flag),
  json: Type.Optional(Type.Literal('string', { description: '"string"' })),
  type: Type.Optional(
    Type.Union(
      statedTypes.map((name) => Type.Literal(name)),
      { description: `one of ${statedTypes.join(', ')}` },
    ),
  ),
  levels: Type.Optional(LevelsSchema),
  labels: Type.Optional(text),
  search: Type.Optional(flag),
  check: Type.Optional(
    Type.Union([Type.Literal('inn'), Type.Literal('ogrn')], { description: 'inn or ogrn' }),
  ),
})

const DemoSchema = Type.Record(
  anyName,
  Type.Array(scalar, {
    minItems: 1,
    maxItems: demoValuesMax,
    description: `a list of 1 to ${demoValuesMax} values`,
  }),
  // An empty subset would include the whole dataset.
  { minProperties: 1, description: 'a map of at least one column name to a list of values' },
)

const planShape =
  'an object {title, rows_per_month, history, price_rub, rate_per_minute, aggregates}'
const PlanSchema = objectOf(planShape, {
  title: Type.Optional(label),
  rows_per_month: count,
  history: Type.Optional(
    Type.Union([Type.Literal('all'), wholeNumber(1, historyYearsMax, '')], {
      description: `"all" or a number of latest years, 1 to ${historyYearsMax}`,
    }),
  ),
  price_rub: wholeNumber(0, monthRubMax, `whole roubles a month, 0 to ${monthRubMax}`),
  rate_per_minute: Type.Optional(count),
  aggregates: Type.Optional(flag),
})

const AggregatesSchema = Type.Union(
  [
    Type.Literal(false),
    Type.Object(
      {
        rows_per_group: Type.Optional(
          wholeNumber(1, rowsPerGroupMax, `a whole number of rows, 1 to ${rowsPerGroupMax}`),
        ),
      },
      strict,
    ),
  ],
  { description: 'false or an object {rows_per_group}' },
)

const entityShape = 'an object {key, name, period, rank, aliases}'
const EntitySchema = objectOf(entityShape, {
  key: text,
  name: Type.Optional(text),
  period: Type.Optional(text),
  rank: Type.Optional(text),
  aliases: Type.Optional(text),
})

const LinksSchema = Type.Record(
  anyName,
  Type.Record(anyName, text, {
    minProperties: 1,
    description: "a map of its columns to the key of this dataset's entity",
  }),
  { description: 'a map of datasets by name' },
)

/** The rest of a measure, one function with its columns, is checked in `measure-rules.ts`. */
const MeasureSchema = Type.Object(
  {
    label: Type.Optional(label),
    unit: Type.Optional(localText),
    description: Type.Optional(localText),
  },
  { description: 'an object with a function, {ratio: 2400/2110, label, unit, description}' },
)

export const DatasetEntrySchema = objectOf('a dataset', {
  title: localText,
  description: Type.Optional(localText),
  source: Type.Optional(localText),
  as_of: Type.Optional(dateOfData),
  files: Type.Optional(oneOrMany(text, 'a path, a glob or a list of them')),
  follow_links: Type.Optional(flag),
  engine: Type.Optional(objectOf('an object {trino}', { trino: clusterUrl })),
  table: Type.Optional(
    Type.String({
      pattern: '^[^."]+\\.[^."]+\\.[^."]+$',
      description: 'catalog.schema.table',
    }),
  ),
  key: Type.Optional(oneOrMany(text, 'a column name or a list of them')),
  lookups: Type.Optional(oneOrMany(text, 'a column name or a list of them')),
  history: Type.Optional(text),
  entity: Type.Optional(EntitySchema),
  links: Type.Optional(LinksSchema),
  first_columns: Type.Optional(oneOrMany(text, 'a column name or a list of them')),
  limit: Type.Optional(LimitSchema),
  require_filter: Type.Optional(
    Type.Union([Type.Literal('auto'), Type.Boolean()], { description: 'auto, true or false' }),
  ),
  timeout_seconds: Type.Optional(
    Type.Number({ minimum: 0.1, maximum: 300, description: 'a number of seconds, 0.1 to 300' }),
  ),
  listed: Type.Optional(flag),
  pack: Type.Optional(
    Type.Union([Type.Literal('off'), Type.Literal('auto')], { description: 'off or auto' }),
  ),
  allow_breaking: Type.Optional(flag),
  allow_shrinking: Type.Optional(flag),
  allow_future: Type.Optional(flag),
  allow_repeated_keys: Type.Optional(flag),
  shrink_max: Type.Optional(
    Type.String({
      pattern: '^(100|\\d{1,2}(\\.\\d+)?)%$',
      description: 'a percentage of the rows from 0% to 100%, for example 20%',
    }),
  ),
  keep_versions_hours: Type.Optional(
    wholeNumber(0, keepHoursMax, `a whole number of hours, 0 to ${keepHoursMax}`),
  ),
  keep_changes_days: Type.Optional(
    wholeNumber(1, keepDaysMax, `a whole number of days, 1 to ${keepDaysMax}`),
  ),
  dictionary: Type.Optional(text),
  columns: Type.Optional(
    Type.Record(anyName, ColumnSchema, { description: 'a map of columns by name' }),
  ),
  aggregates: Type.Optional(AggregatesSchema),
  measures: Type.Optional(
    Type.Record(anyName, MeasureSchema, { description: 'a map of measures by name' }),
  ),
  demo: Type.Optional(DemoSchema),
  plans: Type.Optional(Type.Record(anyName, PlanSchema, { description: 'a map of plans by name' })),
})

export const RegistrySchema = objectOf('a registry: {demo, datasets, prompts, shop, portal}', {
  demo: Type.Optional(
    objectOf('an object {token, rate_per_minute}', {
      token: Type.String({
        pattern: '^das_demo_[0-9A-Za-z]{4,64}$',
        description: 'das_demo_ followed by 4 to 64 letters and digits',
      }),
      rate_per_minute: Type.Optional(count),
    }),
  ),
  datasets: Type.Record(anyName, DatasetEntrySchema, {
    description: 'a map of datasets by name',
  }),
  prompts: Type.Optional(PromptsSchema),
  shop: Type.Optional(ShopSchema),
  portal: Type.Optional(PortalSchema),
})

export type RegistryFile = Static<typeof RegistrySchema>
export type DatasetEntry = Static<typeof DatasetEntrySchema>
