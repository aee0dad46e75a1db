import { open } from 'node:fs/promises'
import { leavesOf, typeText } from '../../../columns/data-type.js'
import { quoted } from '../../../text.js'
import { FileError } from '../../../versions/opener.js'
import type { FileColumn } from '../../../versions/opener.js'
import { zonedTime } from '../encode/encode-scalar.js'
import type { FileGroup } from './file-group.js'
import { ThriftReader } from './thrift.js'
import type { ThriftFields, ThriftValue } from './thrift.js'

/** Fields of Parquet's footer by their numbers, from parquet.thrift of Apache Parquet. */
const schemaField = 2
const rowGroupsField = 4
const element = { children: 5, converted: 6, logical: 10 } as const
const logicalTime = 7
const convertedMillis = 7n
const convertedMicros = 8n
const rowGroup = { columns: 1 } as const
const chunk = { metadata: 3 } as const
const metadata = { path: 3, statistics: 12 } as const
/** The largest and smallest value, in the old order and in the one of the type. */
const ends = [1, 2, 5, 6]

const timeTypes = ['TIME', 'TIME_NS', zonedTime]
const dayMs = 86_400_000n
const endingBytes = 8

/**
 * Refuses statistics of times beyond a day, as of a writer that leaves its first guess in them:
 * DuckDB ends the process when it makes texts of them. Call it before anything that reads
 * `parquet_metadata`.
 * @throws FileError for the first column
 */
export async function checkTimes({ files, columns }: FileGroup): Promise<void> {
  if (!columns.some(hasTimes)) return
  for (const { path } of files) checkFooter(await readFooter(path), path)
}

function hasTimes({ type }: FileColumn): boolean {
  return leavesOf(type).some((leaf) => timeTypes.includes(typeText(leaf)))
}

function checkFooter(footer: Buffer, path: string): void {
  const reader = new ThriftReader(footer)
  let days: readonly (bigint | null)[] = []
  let group = 0
  reader.fields((field) => {
    if (field === schemaField) {
      days = daysOf([...reader.values()])
      return true
    }
    if (field !== rowGroupsField) return false
    for (const each of reader.values()) {
      for (const [at, column] of listIn(each, rowGroup.columns).entries()) {
        requireWithin(path, days[at] ?? null, fieldOf(column, chunk.metadata), group)
      }
      group += 1
    }
    return true
  })
}

async function readFooter(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const ending = await file.read(Buffer.alloc(endingBytes), 0, endingBytes, size - endingBytes)
    const bytes = ending.buffer.readUInt32LE()
    return (await file.read(Buffer.alloc(bytes), 0, bytes, size - endingBytes - bytes)).buffer
  } finally {
    await file.close()
  }
}

/** The length of a day in the unit of each column without parts; null if it is no time. */
function daysOf(elements: readonly ThriftValue[]): readonly (bigint | null)[] {
  const leaves = elements.filter((each) => (fieldOf(each, element.children) ?? 0n) === 0n)
  return leaves.map((leaf) => {
    const time = fieldOf(fieldOf(leaf, element.logical), logicalTime)
    const [unit] = time instanceof Map ? fieldsOf(time.get(2)).keys() : []
    if (unit !== undefined) return dayMs * 1000n ** BigInt(unit - 1)
    const converted = fieldOf(leaf, element.converted)
    if (converted === convertedMillis) return dayMs
    return converted === convertedMicros ? dayMs * 1000n : null
  })
}

function requireWithin(
  path: string,
  day: bigint | null,
  column: ThriftValue | undefined,
  group: number,
): void {
  if (day === null) return
  const statistics = fieldOf(column, metadata.statistics)
  for (const end of ends) {
    const number = numberOf(fieldOf(statistics, end))
    if (number === null || (number >= 0n && number <= day)) continue
    const [name] = listIn(column, metadata.path)
    const reason =
      `has statistics of column ${quoted(String(name))} that are no times of a day, row group ` +
      `${group} (from 0): the file is damaged or badly written; copy or write it again`
    throw new FileError(path, reason)
  }
}

/** Null if there is none, or none of a time: DuckDB refuses it. */
function numberOf(bytes: ThriftValue | undefined): bigint | null {
  if (!Buffer.isBuffer(bytes)) return null
  if (bytes.length === 4) return BigInt(bytes.readInt32LE())
  return bytes.length === 8 ? bytes.readBigInt64LE() : null
}

function fieldsOf(value: ThriftValue | undefined): ThriftFields {
  return value instanceof Map ? value : new Map()
}

function fieldOf(value: ThriftValue | undefined, field: number): ThriftValue | undefined {
  return fieldsOf(value).get(field)
}

function listIn(value: ThriftValue | undefined, field: number): readonly ThriftValue[] {
  const list = fieldOf(value, field)
  return Array.isArray(list) ? list : []
}
