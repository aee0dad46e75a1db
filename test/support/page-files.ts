import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where each DuckDB that runs over a temp folder writes pages, there or not. */
export function pageFolders(temp: string): readonly string[] {
  return readdirSync(temp).map((own) => join(temp, own, 'pages'))
}

/** What lies in a temp folder but for folders. */
export function filesIn(temp: string): readonly string[] {
  const all = readdirSync(temp, { recursive: true, withFileTypes: true })
  return all.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
}
