/** The form of `<value>` in `<column>=<operator>.<value>`. */
export type ValueForm = 'one' | 'pattern' | 'words' | 'list' | 'none'

/** Every filter operator, with the form of its value and its meaning. */
export const operators = {
  eq: { form: 'one', meaning: 'equal' },
  ne: { form: 'one', meaning: 'not equal; rows where the column is empty are left out' },
  gt: { form: 'one', meaning: 'greater' },
  gte: { form: 'one', meaning: 'greater or equal' },
  lt: { form: 'one', meaning: 'less' },
  lte: { form: 'one', meaning: 'less or equal' },
  like: { form: 'pattern', meaning: 'begins with the text before the closing *; no * means equal' },
  contains: {
    form: 'words',
    meaning: 'has all these words, anywhere and in any order; case does not matter, ё equals е',
  },
  in: { form: 'list', meaning: 'one of a list' },
  not_in: { form: 'list', meaning: 'none of a list; rows where the column is empty are left out' },
  isdistinct: { form: 'one', meaning: 'not equal; rows where the column is empty are kept' },
  is_null: { form: 'none', meaning: 'the column is empty' },
  not_null: { form: 'none', meaning: 'the column is not empty' },
} as const satisfies Record<string, { readonly form: ValueForm; readonly meaning: string }>

export type Operator = keyof typeof operators

export const operatorNames = Object.keys(operators) as readonly Operator[]

/** True for the name of an operator; false for inherited names such as `constructor`. */
export function isOperator(name: string): name is Operator {
  return Object.hasOwn(operators, name)
}
