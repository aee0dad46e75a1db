import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { bindText, bindTexts } from '../../src/engine/duckdb/bind.js'
import type { Statements } from '../harness/duckdb.js'
import { sum } from '../harness/statistics.js'

/** One Parquet file, and what it may hold. */
export interface FormFile {
  readonly path: string
  readonly rows: number
  readonly groups: number
  readonly inn: { readonly min: string; readonly max: string }
  readonly year: { readonly min: number; readonly max: number }
}

/** The same rows as Parquet files, in stored order. */
export interface ParquetForm {
  readonly kind: 'parquet'
  readonly name: string
  readonly files: readonly FormFile[]
  readonly rows: number
  readonly sizeBytes: number
}

/** The same rows as one table, with each row's place in a column `position`. */
export interface NativeForm {
  readonly kind: 'native'
  readonly name: string
  readonly path: string
  readonly table: string
  readonly rows: number
  readonly sizeBytes: number
}

export type Form = ParquetForm | NativeForm

/** The Parquet files of a folder, by name. */
export async function parquetFiles(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.parquet')).sort()
  return names.map((name) => join(folder, name))
}

/** Reads the bounds and sizes of Parquet files. */
export async function openParquet(
  statements: Statements,
  name: string,
  paths: readonly string[],
): Promise<ParquetForm> {
  const bounds = `SELECT file_name, min(stats_min_value), max(stats_max_value),
    sum(row_group_num_rows), count(*) FROM parquet_metadata($1::VARCHAR[])
    WHERE path_in_schema = $2 GROUP BY file_name`
  const boundsOf = async (column: string) => {
    const found = await statements.run(bounds, [bindTexts(paths), bindText(column)])
    const [files = [], min = [], max = [], rows = [], groups = []] = found
    const entries = files.map((path, at): [unknown, Bounds] => [
      path,
      { min: min[at], max: max[at], rows: Number(rows[at]), groups: Number(groups[at]) },
    ])
    return new Map(entries)
  }
  const [inns, years] = [await boundsOf('inn'), await boundsOf('year')]
  const files = paths.map((path): FormFile => {
    const [inn, year] = [inns.get(path), years.get(path)]
    if (!inn || !year) throw new Error(`no statistics of inn and year in ${path}`)
    return {
      path,
      rows: inn.rows,
      groups: inn.groups,
      inn: { min: String(inn.min), max: String(inn.max) },
      year: { min: Number(year.min), max: Number(year.max) },
    }
  })
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  return {
    kind: 'parquet',
    name,
    files,
    rows: sum(files.map(({ rows }) => rows)),
    sizeBytes: sum(sizes),
  }
}

interface Bounds {
  readonly min: unknown
  readonly max: unknown
  readonly rows: number
  readonly groups: number
}

/** Attaches the one database that holds a native form. */
export async function openNative(
  statements: Statements,
  name: string,
  [path = '']: readonly string[],
): Promise<NativeForm> {
  const database = `"${basename(path)}"`
  await statements.run(`ATTACH '${path}' AS ${database} (READ_ONLY)`, [])
  const table = `${database}.statements`
  const [[rows] = []] = await statements.run(`SELECT count(*) FROM ${table}`, [])
  const { size } = await stat(path)
  return { kind: 'native', name, path, table, rows: Number(rows), sizeBytes: size }
}

/** The files that a form is stored in. */
export function pathsOf(form: Form): readonly string[] {
  return form.kind === 'native' ? [form.path] : form.files.map(({ path }) => path)
}
