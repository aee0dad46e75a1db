import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as ChargeQueue from '../../src/access/charge-queue.js'
import type * as Reading from '../../src/app/reading.js'
import type * as Catalog from '../../src/catalog/catalog.js'
import type * as ChargeStore from '../../src/control/charge-store.js'
import type * as LastUsed from '../../src/control/last-used.js'
import type * as Store from '../../src/control/store.js'
import type * as Subscriptions from '../../src/control/subscriptions.js'
import type * as Usage from '../../src/control/usage.js'
import type * as DuckdbEngine from '../../src/engine/duckdb/duckdb-engine.js'
import type * as Server from '../../src/http/server.js'
import type * as Service from '../../src/service.js'

/** What a benchmark measures is what is shipped: the modules of dist, with the types of src. */
interface Modules {
  readonly 'access/charge-queue': typeof ChargeQueue
  readonly 'app/reading': typeof Reading
  readonly 'catalog/catalog': typeof Catalog
  readonly 'control/charge-store': typeof ChargeStore
  readonly 'control/last-used': typeof LastUsed
  readonly 'control/store': typeof Store
  readonly 'control/subscriptions': typeof Subscriptions
  readonly 'control/usage': typeof Usage
  readonly 'engine/duckdb/duckdb-engine': typeof DuckdbEngine
  readonly 'http/server': typeof Server
  readonly service: typeof Service
}

/** A module as `npm run build` left it. */
export async function built<Name extends keyof Modules>(name: Name): Promise<Modules[Name]> {
  // dist has no types of its own; it is compiled from the file that `Modules` names.
  return (await import(pathToFileURL(resolve('dist', `${name}.js`)).href)) as Modules[Name]
}
