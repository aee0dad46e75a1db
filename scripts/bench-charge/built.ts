import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What a benchmark measures is what is shipped: the modules of dist, with the types of src. */
interface Modules {
  readonly 'access/charge-queue': typeof import('../../src/access/charge-queue.js')
  readonly app: typeof import('../../src/app.js')
  readonly 'catalog/catalog': typeof import('../../src/catalog/catalog.js')
  readonly 'control/last-used': typeof import('../../src/control/last-used.js')
  readonly 'control/store': typeof import('../../src/control/store.js')
  readonly 'control/subscriptions': typeof import('../../src/control/subscriptions.js')
  readonly 'control/usage': typeof import('../../src/control/usage.js')
  readonly 'engine/duckdb/duckdb-engine': typeof import('../../src/engine/duckdb/duckdb-engine.js')
  readonly 'http/server': typeof import('../../src/http/server.js')
  readonly service: typeof import('../../src/service.js')
}

/** A module as `npm run build` left it. */
export async function built<Name extends keyof Modules>(name: Name): Promise<Modules[Name]> {
  // dist has no types of its own; it is compiled from the file that `Modules` names.
  return (await import(pathToFileURL(resolve('dist', `${name}.js`)).href)) as Modules[Name]
}
