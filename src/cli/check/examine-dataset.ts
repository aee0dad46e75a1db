import type { InspectFiles, Inspection } from '../../versions/inspector.js'
import type { MeasurePackGain } from '../../versions/pack-gain.js'
import type { CheckContext, ExaminedDataset } from './dataset-verdict.js'
import { layoutFindings } from './layout-findings.js'
import type { OpenedToCheck } from './open-to-check.js'

/** Rows of which the keys are compared unasked. */
const comparedRowsMax = 5_000_000

/** What looking into a dataset takes. */
interface Tools {
  readonly inspectFiles: InspectFiles
  /** Left out where nobody wants to wait for it. */
  readonly measureGain?: MeasurePackGain
}

/**
 * Looks into a dataset that was opened. Looking that fails is told, not thrown: it must not hide
 * what is known of other datasets.
 * @throws the signal's reason
 */
export async function examine(
  { dataset, reasons, version }: OpenedToCheck,
  { deep }: CheckContext,
  { inspectFiles, measureGain }: Tools,
  options: Parameters<InspectFiles>[1],
): Promise<ExaminedDataset> {
  const bare = { dataset, reasons, version, inspection: null, gain: null }
  if (!version) return bare
  const { signal } = options
  const countsKeys = deep || version.rows <= comparedRowsMax
  const subset = deep ? dataset.demo : null
  const inspection = await told(signal, () =>
    inspectFiles({ version, deep, countsKeys, subset }, options),
  )
  const isSlow = typeof inspection !== 'string' && isLaidOutSlowly(version, inspection)
  if (!isSlow || !measureGain) return { ...bare, inspection }
  return { ...bare, inspection, gain: await told(signal, () => measureGain(version, signal)) }
}

function isLaidOutSlowly(
  version: NonNullable<OpenedToCheck['version']>,
  { footers, damages }: Inspection,
): boolean {
  return damages.length === 0 && layoutFindings(version, footers).length > 0
}

/** The first line of what went wrong in place of a result; the signal's reason is thrown. */
async function told<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | string> {
  try {
    return await work()
  } catch (cause) {
    signal.throwIfAborted()
    const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    return line
  }
}
