import { typeOperators } from '../../columns/column-types.js'
import type { ShownType } from '../../columns/column-types.js'
import type { Column } from '../../columns/column.js'
import { columnOperators } from '../../columns/column.js'
import { operators } from '../../columns/operators.js'
import type { Operator, ValueForm } from '../../columns/operators.js'
import { listElement } from '../../query/write-url.js'
import type { Json } from './json.js'

const number = String.raw`-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`
const day = '[+-]?[0-9]{4,7}-[0-9]{2}-[0-9]{2}'
const clock = String.raw`[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?`
const zone = '(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)'
const anyText = String.raw`[\s\S]*`

/**
 * The pattern of a value. It can't express every rule: the service answers 400 for the 31st of a
 * short month, or a malformed UUID. It never refuses a value that the service accepts.
 */
export const valuePatterns: Readonly<Record<ShownType, string>> = {
  integer: number,
  number,
  string: anyText,
  boolean: '(?:true|false)',
  date: day,
  timestamp: `${day}(?:[T ]${clock}${zone}?)?`,
  time: clock,
  json: anyText,
  binary: anyText,
}

/** The name of the filter schema for columns of this type. */
export function filterSchemaName(type: ShownType): string {
  return `${type}.Filter`
}

/**
 * The schema of `column=operator.value`: a string with one of the type's operators. `value` is one
 * that a filter on some column of the type has.
 */
export function filterSchema(type: ShownType, value: string): Json {
  const names = typeOperators[type]
  const lines = names.map((name) => `- \`${writtenFilter(name)}\`: ${operators[name].meaning}`)
  return {
    type: 'string',
    description: [`A filter on a column of type ${type}:`, '', ...lines].join('\n'),
    examples: names.map((name) => written(name, value)),
    pattern: `^(?:${valueForms.flatMap((form) => alternative(type, form)).join('|')})$`,
  }
}

/** How a value can be written, in the order of the document. */
export const valueForms: readonly ValueForm[] = ['one', 'pattern', 'words', 'list', 'none']

/** The operators of a type that take their value in this form. */
export function operatorsWith(type: ShownType, form: ValueForm): readonly Operator[] {
  return typeOperators[type].filter((name) => operators[name].form === form)
}

function alternative(type: ShownType, form: ValueForm): readonly string[] {
  const names = operatorsWith(type, form)
  return names.length === 0 ? [] : [`(?:${names.join('|')})${valuePattern(type, form)}`]
}

function valuePattern(type: ShownType, form: ValueForm): string {
  switch (form) {
    case 'one':
      return String.raw`\.${valuePatterns[type]}`
    case 'pattern':
      return String.raw`\.[^*]*\*?`
    case 'words':
      return String.raw`\.[\s\S]*\S[\s\S]*`
    case 'list':
      return String.raw`\.${elementPattern(type)}(?:,${elementPattern(type)})*`
    case 'none':
      return ''
  }
}

function elementPattern(type: ShownType): string {
  const one = valuePatterns[type]
  if (one === anyText) return String.raw`(?:"(?:[^"\\]|\\["\\])*"|[^",\\]+)`
  return `(?:"${one}"|${one})`
}

/** The form of a filter with this operator: `eq.value`, `in.one,two`, `is_null`. */
export function writtenFilter(name: Operator): string {
  const forms = {
    one: '.value',
    pattern: '.prefix*',
    words: '.any words',
    list: '.one,two',
    none: '',
  }
  return `${name}${forms[operators[name].form]}`
}

/** A filter with the first operator of the column and a value that it has or could have. */
export function filterExample(column: Column, value: string): string {
  const [name = 'not_null'] = columnOperators(column)
  return written(name, value)
}

function written(name: Operator, value: string): string {
  return `${name}${exampleValue(name, value)}`
}

function exampleValue(name: Operator, value: string): string {
  switch (operators[name].form) {
    case 'one':
      return `.${value}`
    case 'pattern':
      return `.${[...value].slice(0, 2).join('').replaceAll('*', '')}*`
    case 'words':
      return `.${value.trim() || 'word'}`
    case 'list':
      return `.${listElement(value)}`
    case 'none':
      return ''
  }
}
