import type { FileChecks } from '../../versions/store/file-checks.js'
import type { Version } from '../../versions/version.js'
import type { RowCopies } from '../rows/row-copies.js'
import type { SandboxOptions } from './sandbox.js'
import type { TurnsOptions } from './turns/turns.js'

/** How the engine over DuckDB reads. */
export interface EngineOptions extends SandboxOptions, TurnsOptions {
  /** Called with a version that must not be read any more, and the reason for the owner. */
  readonly withdraw?: (version: Version, reason: string) => void
  /** Queries read files only after this verifies them; without it, files need only be unchanged. */
  readonly checks?: FileChecks
  /** Row copies answer what they can; left out = DuckDB answers everything. */
  readonly copies?: RowCopies
}
