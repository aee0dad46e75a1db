import { recordAction } from '../../control/audit.js'
import type { ControlStore } from '../../control/store/store.js'
import type { PackedFile } from '../../versions/packing/packer.js'
import type { CliParts } from '../parts.js'
import { withStore } from '../state.js'
import type { Added } from './dataset-added.js'
import { shownPath } from './import-table.js'
import type { Imported } from './table-types.js'

/**
 * Records a dataset that registry.yaml has now. Only warns if the trail can't be written, because
 * the registry was changed already.
 */
export async function recordAdded(
  { clock, stderr }: CliParts,
  store: ControlStore,
  { draft, imported }: Added,
): Promise<void> {
  const { name: subject, files, key, history } = draft
  const details = { files, key, history, imported: imported.map(({ file }) => shownPath(file)) }
  try {
    await recordAction(store, { action: 'dataset.added', subject, details, now: clock.now() })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    stderr.write(`warning: das audit does not show that "${subject}" was added: ${why}\n`)
  }
}

/** Records the datasets whose Parquet files were written again from other files. */
export async function recordImported(
  { clock }: CliParts,
  store: ControlStore,
  imported: readonly Imported[],
  datasets: readonly string[],
): Promise<void> {
  const files = imported.map(({ file }) => shownPath(file))
  for (const subject of datasets) {
    await recordAction(store, {
      action: 'dataset.imported',
      subject,
      details: { files },
      now: clock.now(),
    })
  }
}

/** Records a packed copy in the state folder. */
export function recordPacked(
  parts: CliParts,
  stateFolder: string,
  packed: {
    readonly name: string
    readonly files: readonly PackedFile[]
    readonly seconds: number
  },
): Promise<void> {
  const { name: subject, files, seconds } = packed
  const details = { files: files.length, seconds }
  return withStore(parts, stateFolder, async (store) => {
    await recordAction(store, { action: 'pack.made', subject, details, now: parts.clock.now() })
  })
}
