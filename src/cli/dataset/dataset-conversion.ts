import { open } from 'node:fs/promises'
import { relative } from 'node:path'
import { badRequest } from '../../errors.js'
import { conversionOf } from '../../versions/files/conversion.js'

const parquetMagic = 'PAR1'

/**
 * Refuses files of another format, with a command that converts the first of them.
 * @throws bad_request
 */
export async function requireParquet(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const near = relative(process.cwd(), path)
    const shown = near.startsWith('..') ? path : near
    const conversion = conversionOf(shown)
    if (!conversion || (await firstBytes(path)) === parquetMagic) continue
    const { format, target, command } = conversion
    throw badRequest(
      `${shown} is ${format}, but only Parquet can be served. Convert it with DuckDB ` +
        `(https://duckdb.org/install), then add ${target}:\n\n  ${command}\n`,
    )
  }
}

async function firstBytes(path: string): Promise<string> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(parquetMagic.length))
  return buffer.toString('latin1', 0, bytesRead)
}
