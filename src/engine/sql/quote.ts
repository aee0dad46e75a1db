/** A name as an SQL identifier. Names come from the catalog, never from a request. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text as an SQL literal, for texts of our own; bind every value of a caller instead. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
