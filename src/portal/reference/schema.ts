import { html } from '../html.js'
import type { Html } from '../html.js'
import { inline } from './markdown.js'
import { partAt, partsAt, refName, textAt, valuesAt } from './parts.js'
import type { Part } from './parts.js'
import { marked, partsTable } from './parts-table.js'
import type { Cell, TableRow } from './parts-table.js'

/** Longer lists of values are folded. */
const valuesShown = 12

/** The id of the section that shows a schema. */
export function schemaId(name: string): string {
  return `schema-${name}`
}

/** What values a schema allows, in a few words; schemas with a name become links. */
export function typeText(schema: Part): Cell {
  const name = refName(schema)
  if (name !== '') return [html`<a href="#${schemaId(name)}">${name}</a>`]
  if (Array.isArray(schema['anyOf'])) return joined(partsAt(schema, 'anyOf').map(typeText))
  if (Array.isArray(schema['enum'])) {
    return [valueList(valuesAt(schema, 'enum').map(String)), limitsText(schema)]
  }
  if (schema['const'] !== undefined) return [html`<code>${String(schema['const'])}</code>`]
  const types = [schema['type']].flat().map(String)
  const texts = types.map((type) =>
    type === 'array' ? ['list of ', ...typeText(partAt(schema, 'items'))] : [type],
  )
  return [...joined(texts), limitsText(schema)]
}

function joined(choices: readonly Cell[]): Cell {
  return choices.flatMap((choice, index) => (index === 0 ? choice : [' or ', ...choice]))
}

function valueList(values: readonly string[]): Html {
  const codes = values.map((value) => html`<code>${value}</code> `)
  if (values.length <= valuesShown) return html`${codes}`
  return html`<details>
    <summary>${values.length} values</summary>
    ${codes}
  </details>`
}

/** ` (1 to 1000, default 100)`, or nothing. */
function limitsText(schema: Part): string {
  const { minimum, maximum, maxItems } = schema
  const range = maximum === undefined ? `${String(minimum)} or more` : `to ${String(maximum)}`
  const isRange = minimum !== undefined && maximum !== undefined
  const limits = [
    schema['format'],
    minimum === undefined && maximum === undefined
      ? undefined
      : `${isRange ? `${String(minimum)} ` : ''}${range}`,
    maxItems === undefined ? undefined : `at most ${String(maxItems)}`,
    schema['default'] === undefined ? undefined : `default ${String(schema['default'])}`,
  ].filter((limit) => limit !== undefined)
  return limits.length === 0 ? '' : ` (${limits.join(', ')})`
}

/** A schema as a table of its fields, or in words where it has none. */
export function schemaTable(name: string, schema: Part): Html {
  const labelId = schemaId(name)
  const choices = partsAt(partAt(schema, 'items'), 'anyOf')
  if (choices.length > 0) return choiceTable(labelId, choices)
  const rows = fieldsOf(schema, '')
  if (rows.length === 0) return html`<p>${typeText(schema)}</p>`
  const headings = ['Field', 'Type', 'Description']
  if (rows.some(({ cells }) => cells[1]?.length)) return partsTable({ labelId, headings, rows })
  const short = rows.map(({ name, cells }) => ({ name, cells: cells.slice(0, 1) }))
  return partsTable({ labelId, headings: headings.slice(0, 2), rows: short })
}

/** A list of objects of several kinds: a row for each kind. */
function choiceTable(id: string, choices: readonly Part[]): Html {
  const keys = [...new Set(choices.flatMap((each) => Object.keys(partAt(each, 'properties'))))]
  const [first = '', ...others] = keys
  return html`<p>A list of objects. Each one is of one of these kinds:</p>
    ${partsTable({
      labelId: id,
      headings: keys,
      rows: choices.map((choice) => {
        const cell = (key: string) =>
          key in partAt(choice, 'properties')
            ? typeText(partAt(partAt(choice, 'properties'), key))
            : ['left out']
        return { name: cell(first), cells: others.map(cell) }
      }),
    })}`
}

/** The fields of an object and of the objects inside it: `limit.max`, `columns[].name`. */
function fieldsOf(schema: Part, prefix: string): readonly TableRow[] {
  const properties = partAt(schema, 'properties')
  const required = valuesAt(schema, 'required')
  const markOf = (name: string) => (required.includes(name) ? '' : 'optional')
  return Object.keys(properties).flatMap((key) => {
    const field = partAt(properties, key)
    const name = `${prefix}${key}`
    const inside = insideOf(field)
    return [
      {
        name: [html`<code>${name}</code>`, marked(markOf(key))],
        cells: [inside?.text ?? typeText(field), fieldText(field)],
      },
      ...(inside ? fieldsOf(inside.schema, `${name}${inside.suffix}.`) : []),
    ]
  })
}

/** The description of a field, with its unit. */
export function fieldText(field: Part): Cell {
  const description = textAt(field, 'description')
  const unit = textAt(field, 'x-unit')
  if (unit === '') return description === '' ? [] : inline(description)
  const start = description === '' ? '' : `${description.replace(/\.$/, '')}. `
  return inline(`${start}Unit: ${unit}.`)
}

interface Inside {
  readonly schema: Part
  readonly suffix: '' | '[]'
  readonly text: readonly string[]
}

/** The object in a field, in its list or beside null: its fields are rows of their own. */
function insideOf(field: Part): Inside | null {
  const hasFields = (schema: Part) => Object.keys(partAt(schema, 'properties')).length > 0
  if (hasFields(field)) return { schema: field, suffix: '', text: ['object'] }
  const items = partAt(field, 'items')
  if (hasFields(items)) return { schema: items, suffix: '[]', text: ['list of objects'] }
  const choice = partsAt(field, 'anyOf').find(hasFields)
  return choice ? { schema: choice, suffix: '', text: ['object or null'] } : null
}
