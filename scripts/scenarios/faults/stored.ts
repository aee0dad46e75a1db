import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { rot, rotGrossly } from '../../../test/support/damage.js'
import { das } from '../../harness/fixture.js'
import { system } from '../../harness/process.js'
import { startRefused, untilLogged, wait, wholeLog } from './site.js'
import type { FaultCase, Site } from './site.js'

const lockMs = 9000
const holdMs = 2000
/** Of a database of SQLite. */
const pageBytes = 4096
/** Where one bit turns over, as a share of the file. */
const place = 0.5

const backupOf = ({ fixture }: Site) => join(fixture.folder, 'backup.db')

/** Stored bytes and records are damaged or locked. */
export const storedFaults: readonly FaultCase[] = [
  rotten('stored file', 'plain', '.parquet'),
  rotten('row copy', 'packed', '.rows'),
  rotten('search file', 'packed', '.search'),
  rotten('manifest', 'plain', 'manifest.json'),
  {
    name: 'locked control.db',
    about: `another process holds the write lock for ${lockMs / 1000} s`,
    strike: async (site) => {
      const holder = new Database(site.fixture.database)
      holder.exec('BEGIN EXCLUSIVE')
      await wait(site, lockMs)
      holder.exec('ROLLBACK')
      holder.close()
    },
  },
  {
    name: 'damaged control.db',
    about: 'the database is damaged while no server runs; then a backup is restored',
    strike: async (site) => {
      const { database } = site.fixture
      await site.server().end('SIGTERM')
      await das(site.fixture, ['backup', backupOf(site)])
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
      await das(site.fixture, ['backup', backupOf(site)])
      await overwritePages(site.fixture.database)
      await wait(site, holdMs)
      await restore(site)
      await untilLogged(site, 'the new control.db is sound')
    },
  },
]

/** One bit of a file turns over while no server runs; later it turns back. */
function rotten(what: string, dataset: string, end: string): FaultCase {
  return {
    name: `rot: ${what}`,
    about: `one bit in the middle of a ${what} is another after a restart, for ${holdMs / 1000} s`,
    strike: async (site) => {
      const path = await storedFile(site, dataset, end)
      const good = await readFile(path)
      await site.server().end('SIGTERM')
      rot(path, place)
      await site.start()
      await wait(site, holdMs)
      // In place, as it was; what the server has put right itself stays so.
      if (existsSync(path) && !good.equals(await readFile(path))) rot(path, place)
    },
  }
}

/** The last file with this ending in the folders of a dataset's versions and forms. */
async function storedFile({ fixture }: Site, dataset: string, end: string): Promise<string> {
  const folder = join(fixture.folder, 'state', 'versions', dataset)
  const names = await readdir(folder, { recursive: true })
  const found = names.sort().findLast((name) => name.endsWith(end))
  if (found === undefined) throw new Error(`no stored ${end}`)
  return join(folder, found)
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
