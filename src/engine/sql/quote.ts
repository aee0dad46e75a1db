/**
 * A name as an SQL identifier, without U+0000. Names come from the catalog; in answers of summaries
 * also from a request or a value.
 */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * A text as an SQL literal, for texts of our own and such names; bind every value of a caller
 * instead.
 */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
