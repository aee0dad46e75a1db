import type { Correction } from '../errors.js'
import { recordOf } from '../registry/shape.js'

/** A corrected call that is longer than this helps nobody. */
const lettersMax = 500

type Arguments = Readonly<Record<string, unknown>>

/**
 * The caller's own call, put right, as `Corrected call: query {…}`, or with an example in the place
 * of what only they know; null where it is too long to be told.
 */
export function correctedCall(
  tool: string,
  args: Arguments,
  correction: Correction,
): string | null {
  const text = JSON.stringify(correct(args, correction))
  if (text.length > lettersMax) return null
  const isExample = correction.kind === 'example' || correction.kind === 'add-filter'
  return `${isExample ? 'A call of the right form' : 'Corrected call'}: ${tool} ${text}`
}

function correct(args: Arguments, correction: Correction): Arguments {
  switch (correction.kind) {
    case 'drop-cursor': {
      const { cursor, ...others } = args
      return others
    }
    case 'add-filter': {
      const filters: unknown[] = Array.isArray(args['filters']) ? args['filters'] : []
      return { ...args, filters: [...filters, correction.filter] }
    }
    case 'limit':
      return { ...args, limit: correction.meant }
    case 'column': {
      const { select } = args
      const renamed = withFilters(args, (filter) => replaced(filter, 'column', correction))
      if (!Array.isArray(select)) return renamed
      return { ...renamed, select: select.map((name: unknown) => mended(name, correction)) }
    }
    case 'operator':
    case 'value':
    case 'example': {
      const key = correction.kind === 'operator' ? 'op' : 'value'
      return withFilters(args, (filter) =>
        filter['column'] === correction.column ? replaced(filter, key, correction) : filter,
      )
    }
  }
}

function withFilters(args: Arguments, change: (filter: Arguments) => Arguments): Arguments {
  const { filters } = args
  if (!Array.isArray(filters)) return args
  return { ...args, filters: filters.map((filter: unknown) => change(recordOf(filter))) }
}

interface Replacement {
  readonly written: string | number
  readonly meant: string | number
}

function replaced(filter: Arguments, key: string, replacement: Replacement): Arguments {
  return { ...filter, [key]: mended(filter[key], replacement) }
}

/** A value, or each of a list, that reads as what was written becomes what was meant. */
function mended(value: unknown, { written, meant }: Replacement): unknown {
  if (Array.isArray(value)) return value.map((each) => mended(each, { written, meant }))
  const isWritten = typeof value === 'string' || typeof value === 'number'
  return isWritten && String(value) === String(written) ? meant : value
}
