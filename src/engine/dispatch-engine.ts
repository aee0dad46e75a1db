import type { Version } from '../versions/version.js'
import type { Engine } from './engine.js'

/** Asks the engine that a version belongs to: one for files, one for tables of clusters. */
export function dispatchEngine(files: Engine, tables: Engine): Engine {
  const of = ({ table }: Version) => (table ? tables : files)
  return {
    read: (question, options) => of(question.version).read(question, options),
    count: (version, predicates, options) => of(version).count(version, predicates, options),
    profile: (question, options) => of(question.version).profile(question, options),
    summarize: (summary, options) => of(summary.version).summarize(summary, options),
    top: (top, options) => of(top.version).top(top, options),
    close: async () => {
      await Promise.all([files.close(), tables.close()])
    },
  }
}
