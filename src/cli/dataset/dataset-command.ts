import type { Command } from 'commander'
import { addDatasetCheck } from '../check/dataset-check.js'
import { addGroup } from '../command.js'
import type { CliParts } from '../parts.js'
import { addDatasetAdd } from './dataset-add.js'
import { addDatasetList } from './dataset-list.js'
import { addDatasetPack } from './dataset-pack.js'
import { addDatasetReload } from './dataset-reload.js'

/** `das dataset …`: adds, lists, checks, packs and reloads datasets. */
export function addDataset(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'dataset',
    'Add, list, check, pack and reload datasets.',
    'das dataset add sales.parquet',
  )
  addDatasetAdd(group, parts)
  addDatasetList(group, parts)
  addDatasetCheck(group, parts)
  addDatasetPack(group, parts)
  addDatasetReload(group, parts)
}
