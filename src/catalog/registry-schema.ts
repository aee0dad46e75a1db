import Type from 'typebox'
import type { Static } from 'typebox'

/**
 * The shape of registry.yaml (contract 3). Each leaf's `description` completes the sentence "must
 * be …" in error messages.
 */
const text = Type.String({ minLength: 1, description: 'a text' })
const flag = Type.Boolean({ description: 'true or false' })
const count = Type.Integer({ minimum: 1, description: 'a whole number of at least 1' })
const strict = { additionalProperties: false }
const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
  description: 'a single value',
})

function oneOrMany<T extends Type.TSchema>(item: T, description: string) {
  return Type.Union([item, Type.Array(item, { minItems: 1 })], { description })
}

const LimitSchema = Type.Object(
  { default: Type.Optional(count), max: Type.Optional(count) },
  { ...strict, description: 'an object {default, max}' },
)

const ColumnSchema = Type.Object(
  {
    name: Type.Optional(text),
    description: Type.Optional(text),
    unit: Type.Optional(text),
    hidden: Type.Optional(flag),
    json: Type.Optional(Type.Literal('string', { description: '"string"' })),
  },
  { ...strict, description: 'an object {name, description, unit, hidden, json}' },
)

const PlanSchema = Type.Object(
  {
    rows_per_month: count,
    history: Type.Union([Type.Literal('all'), count], {
      description: '"all" or a number of latest years',
    }),
    price_rub: Type.Integer({ minimum: 0, description: 'whole roubles a month, 0 or more' }),
    rate_per_minute: Type.Optional(count),
  },
  { ...strict, description: 'an object {rows_per_month, history, price_rub, rate_per_minute}' },
)

export const DatasetSchema = Type.Object(
  {
    title: text,
    description: Type.Optional(text),
    source: Type.Optional(text),
    files: oneOrMany(text, 'a path, a glob or a list of them'),
    key: Type.Optional(oneOrMany(text, 'a column name or a list of them')),
    history: Type.Optional(text),
    limit: Type.Optional(LimitSchema),
    require_filter: Type.Optional(
      Type.Union([Type.Literal('auto'), Type.Boolean()], { description: 'auto, true or false' }),
    ),
    timeout_seconds: Type.Optional(
      Type.Number({ minimum: 0.1, maximum: 300, description: 'a number of seconds, 0.1 to 300' }),
    ),
    listed: Type.Optional(flag),
    dictionary: Type.Optional(text),
    columns: Type.Optional(
      Type.Record(Type.String(), ColumnSchema, { description: 'columns by their name' }),
    ),
    demo: Type.Optional(
      Type.Record(Type.String(), Type.Array(scalar, { minItems: 1, maxItems: 1000 }), {
        description: 'lists of values by column name',
      }),
    ),
    plans: Type.Optional(
      Type.Record(Type.String(), PlanSchema, { description: 'plans by their name' }),
    ),
  },
  { ...strict, description: 'a dataset' },
)

export const RegistrySchema = Type.Object(
  {
    demo: Type.Optional(
      Type.Object(
        {
          token: Type.String({
            pattern: '^das_demo_[0-9A-Za-z]{4,64}$',
            description: 'das_demo_ followed by 4 to 64 letters and digits',
          }),
          rate_per_minute: Type.Optional(count),
        },
        { ...strict, description: 'an object {token, rate_per_minute}' },
      ),
    ),
    datasets: Type.Record(Type.String(), DatasetSchema, { description: 'datasets by their name' }),
  },
  { ...strict, description: 'a registry: {demo, datasets}' },
)

export type RegistryFile = Static<typeof RegistrySchema>
export type DatasetEntry = Static<typeof DatasetSchema>
