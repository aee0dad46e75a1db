/** A value of a statement; bytes come back as a Buffer. */
export type SqlValue = string | number | null | Uint8Array

/** A statement, or a part of one: texts of our own, and a value after each but the last. */
export interface Sql {
  readonly texts: readonly string[]
  readonly values: readonly SqlValue[]
}

/**
 * A statement with its values in place: they are bound, never part of the text. Parts of statements
 * are joined to it.
 */
export function sql(texts: TemplateStringsArray, ...parts: readonly (SqlValue | Sql)[]): Sql {
  const [first = '', ...rest] = texts
  const joined = [first]
  const values: SqlValue[] = []
  const append = (text: string) => joined.push(`${joined.pop() ?? ''}${text}`)
  for (const [index, text] of rest.entries()) {
    const part = parts[index] ?? null
    if (typeof part !== 'object' || part === null || part instanceof Uint8Array) {
      values.push(part)
      joined.push(text)
      continue
    }
    const [head = '', ...tail] = part.texts
    append(head)
    joined.push(...tail)
    values.push(...part.values)
    append(text)
  }
  return { texts: joined, values }
}

/** A text of our own as a part of a statement, such as the name of a table; never a caller's. */
export function sqlText(text: string): Sql {
  return { texts: [text], values: [] }
}

/** Values with commas between them; NULL without one, which nothing equals. */
export function sqlList(values: readonly SqlValue[]): Sql {
  if (values.length === 0) return sqlText('NULL')
  return { texts: ['', ...values.slice(1).map(() => ', '), ''], values }
}

/** Adds a row to a table: the value of each column by its name, `createdAt` of `created_at`. */
export function insertInto(table: string, row: Readonly<Record<string, SqlValue>>): Sql {
  const names = sqlText(Object.keys(row).map(columnName).join(', '))
  return sql`INSERT INTO ${sqlText(table)} (${names}) VALUES (${sqlList(Object.values(row))})`
}

/** The same; a row with this key gets the other values. */
export function upsertInto(
  table: string,
  key: string,
  row: Readonly<Record<string, SqlValue>>,
): Sql {
  const others = Object.keys(row)
    .map(columnName)
    .filter((name) => name !== key)
  const set = sqlText(others.map((name) => `${name} = excluded.${name}`).join(', '))
  return sql`${insertInto(table, row)} ON CONFLICT (${sqlText(key)}) DO UPDATE SET ${set}`
}

function columnName(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
