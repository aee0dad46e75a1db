import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { rot, rotGrossly } from '../../../test/support/damage.js'
import { system } from '../../harness/process.js'
import { dasOf, startRefused, untilLogged, wholeLog } from './site.js'
import type { FaultCase, Site } from './site.js'

const lockMs = 9000
const holdMs = 2000
/** Of a database of SQLite. */
const pageBytes = 4096
/** Where one bit turns over, as a share of the file. */
const place = 0.5

/** The last file of the folder of a version, of those with a packed copy or of the others. */
async function storedFile(
  { fixture }: Site,
  dataset: string,
  { isPacked, end }: Stored,
): Promise<string> {
  const versions = join(fixture.folder, 'state', 'versions', dataset)
  for (const name of (await readdir(versions)).sort()) {
    const files = (await readdir(join(versions, name))).sort()
    const found = files.filter((file) => file.endsWith(end)).at(-1)
    if (files.includes('pack.json') === isPacked && found) return join(versions, name, found)
  }
  throw new Error(`no stored ${end}`)
}

/** A kind of stored file. */
interface Stored {
  readonly isPacked: boolean
  readonly end: string
}

/** One bit of a file turns over while no server runs; later it turns back. */
function rotten(what: string, dataset: string, stored: Stored): FaultCase {
  return {
    name: `rot: ${what}`,
    about: `one bit in the middle of a ${what} is another after a restart, for ${holdMs / 1000} s`,
    strike: async (site) => {
      const path = await storedFile(site, dataset, stored)
      const good = await readFile(path)
      await site.server.end('SIGTERM')
      rot(path, place)
      await site.start()
      await site.wait(holdMs)
      // In place, as it was; what the server has put right itself stays so.
      if (existsSync(path) && !good.equals(await readFile(path))) rot(path, place)
    },
  }
}

const backupOf = ({ fixture }: Site) => join(fixture.folder, 'backup.db')

async function backUp(site: Site): Promise<void> {
  await dasOf(site, ['backup', backupOf(site)])
}

async function overwritePages(path: string): Promise<void> {
  const file = await open(path, 'r+')
  const { size } = await file.stat()
  await file.write(Buffer.alloc(size - pageBytes, 0xaa), 0, size - pageBytes, pageBytes)
  await file.close()
}

/** As the runbook says: the present files are moved aside, and the backup takes their place. */
async function restore(site: Site): Promise<void> {
  const { database, folder } = site.fixture
  const aside = join(folder, 'state', 'aside')
  await mkdir(aside)
  for (const end of ['', '-wal', '-shm']) {
    if (existsSync(database + end)) await rename(database + end, join(aside, `control.db${end}`))
  }
  await system('install', '-m', '600', backupOf(site), database)
}

/** Stored bytes and records are damaged or locked. */
export const damageFaults: readonly FaultCase[] = [
  rotten('stored file', 'plain', { isPacked: false, end: '.parquet' }),
  rotten('packed file', 'packed', { isPacked: true, end: '.parquet' }),
  rotten('search file', 'packed', { isPacked: true, end: '.search' }),
  rotten('manifest', 'plain', { isPacked: false, end: 'manifest.json' }),
  {
    name: 'locked control.db',
    about: `another process holds the write lock for ${lockMs / 1000} s`,
    strike: async (site) => {
      const holder = new Database(site.fixture.database)
      holder.exec('BEGIN EXCLUSIVE')
      await site.wait(lockMs)
      holder.exec('ROLLBACK')
      holder.close()
    },
  },
  {
    name: 'damaged control.db',
    about: 'the database is damaged while no server runs; then a backup is restored',
    strike: async (site) => {
      const { database } = site.fixture
      await site.server.end('SIGTERM')
      await backUp(site)
      rotGrossly(database)
      await startRefused(site, 'a damaged control.db')
      await restore(site)
      await site.start()
    },
  },
  {
    name: 'control.db overwritten',
    about: `every page but the first of the database is overwritten under the running server; a backup is restored after ${holdMs / 1000} s`,
    restores: true,
    start: () => Promise.resolve(wholeLog),
    strike: async (site) => {
      await backUp(site)
      await overwritePages(site.fixture.database)
      await site.wait(holdMs)
      await restore(site)
      await untilLogged(site, 'the new control.db is sound')
    },
  },
]
