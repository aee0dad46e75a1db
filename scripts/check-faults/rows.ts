/** Rows of each dataset; every cell follows from the id, so that a client knows each row. */
export const rowCount = 4000

/** The SELECT of ids from `from` up to `to`. */
export function rowsSql(from: number, to: number): string {
  return `SELECT i::INTEGER AS id, (i * 7919 % 1000003)::INTEGER AS n, 'w' || i || 'w' AS word
    FROM range(${from}, ${to}) t(i)`
}

/** The row as it must be served. */
export function rowText(id: number): string {
  return `{"id":${id},"n":${(id * 7919) % 1_000_003},"word":"w${id}w"}`
}

/** Rows that arrived, also of an answer that broke off. */
export function rowsArrived(text: string): number {
  return text.match(/\{"id":\d/g)?.length ?? 0
}
