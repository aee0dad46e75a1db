import { dayOf, monthsLater } from '../../../test/access/fixtures/calendar.js'
import type { Outcome } from '../house.js'
import type { World } from '../world.js'
import { plans } from '../world-files.js'

const addresses = ['anna', 'boris', 'vera', 'gleb', 'dina'].map((name) => `${name}@example.org`)

export function address(world: World): string {
  return world.random.oneOf(addresses)
}

/** One plan of one dataset, or of both. */
export function choosePlans(world: World): readonly string[] {
  const companies = `companies:${world.random.oneOf(Object.keys(plans.companies))}`
  const contracts = `contracts:${world.random.oneOf(Object.keys(plans.contracts))}`
  return world.random.oneOf([[companies], [contracts], [companies, contracts]])
}

/** Sells a subscription by command. */
export async function sell(world: World): Promise<string> {
  const chosen = choosePlans(world)
  const months = world.random.oneOf([1, 2, 12])
  const flags = chosen.flatMap((plan) => ['--plan', plan])
  const email = address(world)
  const done = await world.house.das([
    ...['subscription', 'create', '--email', email, '--months', String(months), '--json'],
    ...flags,
  ])
  const words = `${email} ${chosen.join(' ')} ${months} months`
  if (done.code !== 0) return `${words} → ${failure(world, done)}`
  const { subscription, token } = jsonOf(done)
  const id = String(subscription)
  world.tokens.push({ subscription: id, secret: String(token) })
  const wanted = monthsLater(world.now, months, dayOf(world.now))
  const { expiresAt } = world.books().subscriptions.get(id) ?? {}
  world.require(expiresAt === wanted, `${world.nameOf(id)} ends at another time than was sold`)
  return `${words} → ${world.nameOf(id)}`
}

/** A command of the owner on one subscription. */
export async function changeByCommand(world: World): Promise<string> {
  const id = world.oneOf(world.books().subscriptions.keys())
  if (id === undefined) return 'nothing was sold'
  const [plan = ''] = choosePlans(world)
  const argv = world.random.oneOf([
    ['extend', id, '--months', '1'],
    ['extend', id, '--months', '2'],
    ['change', id, '--plan', plan],
    ['change', id, '--withdraw', plan.split(':')[0] ?? ''],
    ['change', id, '--plan', plan, '--now'],
    ['cancel', id],
  ])
  const done = await world.house.das(['subscription', ...argv])
  const words = `${argv[0] ?? ''} ${world.nameOf(id)} ${argv.slice(2).join(' ')}`.trim()
  return `${words} → ${done.code === 0 ? 'done' : failure(world, done)}`
}

/** A command failed: the owner made a mistake, or the database can't be used. */
export function failure(world: World, { code, stderr }: Outcome): string {
  world.require(!/internal|TypeError|\bat \//.test(stderr), `a command broke: ${stderr}`)
  return `exit ${code}`
}

export function jsonOf({ stdout }: Outcome): Readonly<Record<string, unknown>> {
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>
}
