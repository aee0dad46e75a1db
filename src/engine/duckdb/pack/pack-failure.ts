import { dirname } from 'node:path'
import { FileError } from '../../../versions/opener.js'
import { PackError } from '../../../versions/forms/forms-order.js'
import type { FormsOrder } from '../../../versions/forms/forms-order.js'
import { readFailure } from '../duckdb-failure.js'

/** Why packing failed, for the owner; a bug of ours is returned unchanged. */
export function packFailure(cause: unknown, { dataset, files, folder }: FormsOrder): unknown {
  if (cause instanceof PackError || cause instanceof FileError) return cause
  const { type, text } = readFailure(cause)
  if (isDiskFull(cause, text)) {
    return new PackError('The disk is full. Free some space.', cause)
  }
  if (type === null) return systemFailure(cause)
  if (type === 'Out of Memory') {
    const command = `das dataset pack ${dataset} --memory-limit SIZE`
    return new PackError(`Packing needs more memory. Give it more: \`${command}\`.`, cause)
  }
  const source = files.find(({ path }) => text.includes(path))
  const [words = ''] = text.replaceAll(`${dirname(folder)}/`, '').split('\n')
  if (!source) {
    // DuckDB does not name the file that has damaged pages.
    const advice = '`das dataset check --deep` finds the damaged file'
    return new PackError(`Packing failed: ${words} (${type}); ${advice}.`, cause)
  }
  const named = words.replaceAll(source.path, 'the file')
  return new FileError(source.path, `can't be read: ${named} (${type})`, cause)
}

function isDiskFull(cause: unknown, text: string): boolean {
  return (
    (cause as NodeJS.ErrnoException).code === 'ENOSPC' ||
    /No space left|max_temp_directory_size/.test(text)
  )
}

function systemFailure(cause: unknown): unknown {
  const { code, syscall } = cause as NodeJS.ErrnoException
  if (!code || !syscall) return cause
  return new PackError(`The folder of forms can't be written (${code}).`, cause)
}
