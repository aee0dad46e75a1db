import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { settings } from '../config.js'
import type { Config } from '../config.js'
import { baseUrl } from '../service/first-questions.js'
import type { Flags } from './command.js'

const addressPattern = /^https?:\/\/\S{1,2000}$/

/**
 * Writes the server's address into the state folder, for commands that print links.
 * @throws the system's error when the file can't be written
 */
export function noteAddress(stateFolder: string, base: string): void {
  writeFileSync(addressPath(stateFolder), `${base}\n`, { mode: 0o600 })
}

/** Removes the address when the server stops. */
export function forgetAddress(stateFolder: string): void {
  rmSync(addressPath(stateFolder), { force: true })
}

/**
 * The address for a printed link: from the command's settings if one was given, else of the server
 * that runs over the state folder, else from the defaults.
 */
export function linkBase(
  config: Pick<Config, 'publicUrl' | 'host' | 'port' | 'state'>,
  flags: Flags,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const names = ['publicUrl', 'host', 'port'] as const
  const isGiven = names.some(
    (name) => flags[name] !== undefined || environment[settings[name].variable] !== undefined,
  )
  return (isGiven ? null : readAddress(config.state)) ?? baseUrl(config)
}

function readAddress(stateFolder: string): string | null {
  try {
    const text = readFileSync(addressPath(stateFolder), 'utf8').trim()
    return addressPattern.test(text) ? text : null
  } catch {
    // No server runs, or another user runs it: the link uses the settings.
    return null
  }
}

function addressPath(stateFolder: string): string {
  return join(resolve(stateFolder), 'address')
}
