import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import type { Fields, OwnerSession, World } from '../world.js'
import { ownerNames, registryText } from '../world-files.js'
import { mailedCode } from './ordering.js'
import { address } from './selling.js'

const sessionMs = 12 * 3_600_000

/** Whether a session of an owner opens the page now. */
export function isIn(world: World, { email, until }: OwnerSession): boolean {
  return world.now < until && world.ownerNames.includes(email)
}

/** A form of the owner's page, with the cookie of a session. */
export function pageForm(
  world: World,
  session: OwnerSession | undefined,
  fields: Fields,
): InjectOptions {
  const form = world.form(fields)
  return session ? { ...form, headers: { ...form.headers, cookie: session.cookie } } : form
}

/** Someone gives an address on the owner's page and types its code; a session is an owner's alone. */
export async function enter(world: World): Promise<string> {
  const email = world.random.oneOf([...ownerNames, ...ownerNames, address(world)])
  const earlier = world.owners.find((each) => each.email === email)
  if (earlier && isIn(world, earlier) && world.random.whole(1, 3) > 1) return `${email} is in`
  const asked = await world.postForm('/owner/sign-in', [['email', email]])
  if (asked.status !== 200) return `${email} → ${asked.status}`
  const typed = await mailedCode(world, asked.text, email)
  const isOwner = world.ownerNames.includes(email)
  const done = await world.get('/owner/sign-in/code', undefined, pageForm(world, earlier, typed))
  const [cookie] = /^__Host-das-owner=das_owner_\w+/.exec(String(done.headers['set-cookie'])) ?? []
  if (cookie === undefined) return `${email} → code ${done.status}`
  world.require(isOwner, `${email} is no owner, and has a session`)
  // The browser's earlier session ended; its cookie is pressed with at times.
  if (earlier) world.owners.splice(world.owners.indexOf(earlier), 1, { ...earlier, until: 0 })
  world.owners.push({ email, cookie, until: world.now + sessionMs })
  await requireShown(world, email)
  return `${email} → in`
}

/** The page shows the orders to who is in, and the form for an address to all others. */
async function requireShown(world: World, words: string): Promise<void> {
  for (const session of world.owners.slice(-3)) {
    const headers = { cookie: session.cookie }
    const { status, text } = await world.get('/owner', undefined, { headers })
    const isShown = text.includes('action="/owner/sign-out"')
    world.require(status === 200 && isShown === isIn(world, session), `${words}: ${status}`)
  }
}

/** An owner signs out, or an owner leaves the registry or comes back. */
export async function changeOwners(world: World): Promise<string> {
  const session = world.oneOf(world.owners)
  if (session && world.random.whole(1, 2) === 1) {
    const form = pageForm(world, session, [])
    const { status } = await world.get('/owner/sign-out', undefined, form)
    if (status === 303) world.owners.splice(world.owners.indexOf(session), 1)
    return `${session.email} signs out → ${status}`
  }
  const names = world.ownerNames.length > 1 ? ownerNames.slice(0, 1) : ownerNames
  writeFileSync(join(world.house.folder, 'registry.yaml'), registryText(names))
  // After a kill before the write, the owners are who they were.
  world.ownerNames = names
  await world.house.reload()
  return `owners are ${world.ownerNames.join(', ')}`
}
