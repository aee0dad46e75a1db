import type { NameFinder } from '../../src/service/find.js'

/** For tests in which no entity is looked for. */
export const noNames: NameFinder = {
  find: () => Promise.reject(new Error('not asked for')),
  explain: () => Promise.reject(new Error('not asked for')),
}
