import { join } from 'node:path'
import Database from 'better-sqlite3'
import { requestOf } from '../world.js'
import type { World } from '../world.js'
import { choose, readAtOnce, readPage } from './reading.js'
import { sell } from './selling.js'

const hourMs = 3_600_000

/** The wall clock is set. */
export async function setClock(world: World): Promise<string> {
  const hours = world.random.oneOf([-30, -2, -0.05, 0.05, 2, 30])
  // The service may have removed what had ended, before a clock makes it young again.
  const open = world.agents.filter(({ accessUntil }) => world.now < accessUntil)
  world.agents.splice(0, Infinity, ...open)
  const inside = world.owners.filter(({ until }) => world.now < until)
  world.owners.splice(0, Infinity, ...inside)
  world.machine.clock.ms += hours * hourMs
  if (world.post.isClosed) world.post.isReliable = false
  world.steppedAt = world.now + Math.abs(hours) * hourMs
  await world.machine.pass(1000)
  return `${hours > 0 ? '+' : ''}${hours} h`
}

/** A stop and a start, as for an upgrade. */
export async function restart(world: World): Promise<string> {
  await world.house.close()
  await world.house.open()
  return 'stopped and started'
}

/** The disk is full for a while. */
export async function fillDisk(world: World): Promise<string> {
  world.machine.isDiskFull = true
  world.post.unsaved += 1
  const words = [await readPage(world), await sell(world), await readAtOnce(world)]
  await world.machine.pass(3000)
  await requireNotReady(world, 'the disk is full')
  world.machine.isDiskFull = false
  await world.machine.pass(3000)
  const after = await world.get('/readyz')
  world.require(after.status === 200, `readyz says ${after.status} when the disk has room again`)
  return [...words, 'room again'].join('; ')
}

/** A lock counts as a failure four seconds after a probe met it; a prober asks again and again. */
async function requireSeen(world: World): Promise<void> {
  for (let probe = 0; probe < 2; probe++) {
    await world.machine.pass(4000)
    await world.get('/readyz')
  }
  await world.machine.pass(4000)
  await requireNotReady(world, 'the lock is held')
}

async function requireNotReady(world: World, reason: string): Promise<void> {
  const { status } = await world.get('/readyz')
  world.require(status === 503, `readyz says ${status} while ${reason}`)
}

/** Another process holds the lock of the database while rows are asked for. */
export async function holdLock(world: World): Promise<string> {
  const chosen = choose(world)
  const seconds = world.random.oneOf([1, 3, 20])
  const { machine } = world
  const db = machine.aside(() => {
    const other = new Database(join(world.house.state, 'control.db'), { timeout: 0 })
    other.exec('BEGIN IMMEDIATE')
    return other
  })
  const release = () => {
    machine.aside(() => db.open && db.close())
  }
  try {
    machine.clock.after(seconds * 1000, release)
    if (!chosen) return 'nobody has a token'
    const { token, dataset } = chosen
    const limit = 10
    world.ledger.risk(token.subscription, dataset, limit)
    const asked = requestOf(`/v1/${dataset}?limit=${limit}`, token.secret)
    const { status, body } = await world.house.ask(asked)
    const rows = ((body['data'] ?? []) as unknown[]).length
    if (status < 500) world.ledger.deliver(token.subscription, dataset, rows, limit)
    if (seconds < 5) world.require(status < 500, `a lock of ${seconds} s fails a request`)
    else await requireSeen(world)
    return `${seconds} s, ${world.nameOf(token.subscription)} → ${status}, ${rows} rows`
  } finally {
    release()
    if (!machine.isDead) await machine.pass(3000)
  }
}

/** The mail server fails, or works again. */
export function switchPost(world: World): Promise<string> {
  const { post } = world
  post.isClosed = !post.isClosed
  if (post.isClosed) post.closedAt = world.now
  return Promise.resolve(post.isClosed ? 'the mail server fails' : 'the mail server works')
}
