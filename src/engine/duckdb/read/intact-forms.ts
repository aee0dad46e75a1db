import { ServiceError } from '../../../errors.js'
import { withoutForm } from '../../../versions/forms/attach-forms.js'
import type { Version } from '../../../versions/version.js'
import { ChangedFileError } from './unchanged.js'

/**
 * Does work on a version; again without a form that turns out to be damaged or removed, because the
 * files have the same rows.
 */
export async function withIntactForms<T>(
  version: Version,
  work: (version: Version) => Promise<T>,
): Promise<T> {
  try {
    return await work(version)
  } catch (cause) {
    const changed = cause instanceof ServiceError ? cause.cause : null
    if (!(changed instanceof ChangedFileError)) throw cause
    const rest = withoutForm(version, (file) => changed.isOf(file))
    if (rest === version) throw cause
    return withIntactForms(rest, work)
  }
}
