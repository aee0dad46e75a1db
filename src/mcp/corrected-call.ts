import type { Correction } from '../errors.js'

/** A corrected call that is longer than this helps nobody. */
const lettersMax = 500

/** The caller's own call, put right, as `query {…}`; null where it can't be told. */
export function correctedCall(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  correction: Correction,
): string | null {
  const text = JSON.stringify(correct(args, correction))
  return text.length > lettersMax ? null : `${tool} ${text}`
}

function correct(args: Readonly<Record<string, unknown>>, correction: Correction) {
  const { cursor, ...others } = args
  switch (correction.kind) {
    case 'drop-cursor':
      return others
    case 'add-filter': {
      const filters: unknown[] = Array.isArray(args['filters']) ? args['filters'] : []
      return { ...args, filters: [...filters, correction.filter] }
    }
    case 'replace':
      return { ...replaced(others, correction), ...(cursor !== undefined && { cursor }) }
  }
}

type Replacement = Correction & { readonly kind: 'replace' }

/** Every value that reads as what was written is replaced, wherever it stands; keys are ours. */
function replaced<T>(value: T, replacement: Replacement): T
function replaced(value: unknown, replacement: Replacement): unknown {
  if (Array.isArray(value)) return value.map((each) => replaced(each, replacement))
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, each]) => [key, replaced(each, replacement)]))
  }
  const isWritten = typeof value === 'string' || typeof value === 'number'
  return isWritten && String(value) === String(replacement.written) ? replacement.meant : value
}
