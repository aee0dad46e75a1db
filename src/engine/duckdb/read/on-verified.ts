import type { Clock } from '../../../clock.js'
import { ServiceError, unavailable } from '../../../errors.js'
import type { FileChecks, Verdict } from '../../../versions/store/file-checks.js'
import type { StoredFile } from '../../../versions/version.js'
import { untilAborted, withDeadline } from '../../deadline.js'
import { isFileFailure, readFailure } from '../duckdb-failure.js'
import { ChangedFileError, UnverifiedError, requireUnchanged } from './unchanged.js'

interface VerifiedWork {
  readonly clock: Clock
  /** Null = files are not verified, and a file that was written to is a failure. */
  readonly checks: FileChecks | null
  /** The files that the work may read. */
  readonly files: () => readonly StoredFile[]
  /** Ends the wait but not the verification, whose result the next query uses. */
  readonly signal: AbortSignal
}

/** Each round verifies at least one more file, unless a process changes one. */
const roundsMax = 100
/** How long one query waits for verification, which continues after that. */
const waitMaxMs = 10_000
/** The number of files that one query verifies at the same time. */
const filesAtOnce = 4

/**
 * Runs work on files of which this process has verified every byte. Work fails when it reaches a
 * file that is unverified or was modified; it restarts after the file is verified. Meanwhile it
 * holds no slot.
 * @throws ChangedFileError when a file differs from the published one; service_unavailable when
 *   verification takes too long
 */
export async function onVerified<T>(options: VerifiedWork, run: () => Promise<T>): Promise<T> {
  let waitedMs = 0
  for (let round = 1; ; round++) {
    try {
      return await run()
    } catch (cause) {
      options.signal.throwIfAborted()
      if (cause instanceof ServiceError) throw cause
      const { clock } = options
      const start = clock.monotonicMs()
      const isAgain = await withDeadline(
        clock,
        waitMaxMs - waitedMs,
        options.signal,
        (signal) => verifyAfter(cause, { ...options, signal }),
        beingVerified,
      )
      waitedMs += clock.monotonicMs() - start
      if (!isAgain || round === roundsMax) throw cause
    }
  }
}

function beingVerified(): ServiceError {
  return unavailable('The files of this dataset are being verified. Try again shortly.', 5)
}

/** True if the failure came from unverified files, which are verified now. */
async function verifyAfter(cause: unknown, options: VerifiedWork): Promise<boolean> {
  const { checks, files } = options
  if (cause instanceof ChangedFileError) return false
  const changed = cause instanceof UnverifiedError ? cause : await unverified(files(), checks)
  if (!checks) return false
  if (changed) {
    await requireIntact(changed.files, options, (file) => checks.verify(file))
    return true
  }
  const failure = readFailure(cause)
  if (!isFileFailure(failure)) return false
  const named = files().filter(({ path }) => failure.text.includes(path))
  const suspects = named.length > 0 ? named : files()
  await requireIntact(suspects, options, (file) => checks.recheck(file))
  return false
}

/** Any failure may come from a file that was overwritten. */
async function unverified(
  files: readonly StoredFile[],
  checks: FileChecks | null,
): Promise<UnverifiedError | null> {
  try {
    await requireUnchanged(files, checks)
    return null
  } catch (found) {
    if (found instanceof UnverifiedError) return found
    throw found
  }
}

/** @throws ChangedFileError for the first changed file; the signal's reason when it aborts */
async function requireIntact(
  files: readonly StoredFile[],
  { signal }: VerifiedWork,
  verdictOf: (file: StoredFile) => Promise<Verdict>,
): Promise<void> {
  for (let first = 0; first < files.length; first += filesAtOnce) {
    const batch = files.slice(first, first + filesAtOnce)
    const verdicts = await untilAborted(signal, Promise.all(batch.map(verdictOf)))
    const wrong = verdicts.findIndex((verdict) => verdict !== 'intact')
    const file = batch[wrong]
    if (file) throw new ChangedFileError(file, `is ${verdicts[wrong]}`)
  }
}
