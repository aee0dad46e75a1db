import { NoSpaceError } from '../disk-space.js'
import { FileError } from '../opener.js'
import { ObjectChanged } from './object-store.js'

/**
 * The reason for the owner, without the store's address and request ids; errors of the store and
 * the system begin with `what`.
 */
export function storeReason(cause: unknown, what: string): string {
  if (cause instanceof FileError) return cause.reason
  if (cause instanceof NoSpaceError) return cause.message
  if (cause instanceof ObjectChanged) return 'changes faster than it can be fetched'
  const { code, name, message } = cause as NodeJS.ErrnoException
  return `${what} (${code ?? (name === 'Error' ? message : name)})`
}
