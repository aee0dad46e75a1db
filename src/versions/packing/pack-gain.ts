import type { Version } from '../version.js'

/** What a look-up by the key costs: on the files as they are, and packed. Medians. */
export interface PackGain {
  readonly nowMs: number
  readonly packedMs: number
}

/**
 * Measures what packing would bring a version, on a sample that it packs and removes again; null
 * for a version without a key or without rows. The engine implements it.
 * @throws FileError, or the signal's reason
 */
export type MeasurePackGain = (version: Version, signal: AbortSignal) => Promise<PackGain | null>
