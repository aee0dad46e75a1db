import type { Command } from 'commander'
import { addDatasetCheck } from '../check/dataset-check.js'
import { addGroup } from '../command.js'
import type { CliParts } from '../parts.js'
import { addDatasetAdd } from './dataset-add.js'
import { addDatasetList } from './dataset-list.js'
import { addDatasetPack } from './dataset-pack.js'
import { addDatasetReload } from './dataset-reload.js'

/** `das dataset …`: what is served, and what could be. */
export function addDataset(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'dataset',
    'Add datasets, see what is served, and check what could be.',
    'das dataset add sales.parquet',
  )
  addDatasetAdd(group, parts)
  addDatasetList(group, parts)
  addDatasetCheck(group, parts)
  addDatasetPack(group, parts)
  addDatasetReload(group, parts)
}
