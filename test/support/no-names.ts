import type { ServiceParts } from '../../src/service.js'
import type { NameFinder } from '../../src/service/find-place.js'
import { ChangeSets } from '../../src/versions/changes/change-sets.js'

/** For tests in which no entity is looked for. */
export const noNames: NameFinder = {
  find: () => Promise.reject(new Error('not asked for')),
  explain: () => Promise.reject(new Error('not asked for')),
}

/** For tests in which no changes are asked for. */
export const noChanges: Omit<ServiceParts['changes'], 'control'> = {
  sets: new ChangeSets('/nowhere'),
  read: () => Promise.reject(new Error('not asked for')),
}
