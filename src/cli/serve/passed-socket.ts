import { badRequest } from '../../errors.js'

/** See sd_listen_fds(3): passed sockets begin after standard error. */
const firstDescriptor = 3

/**
 * The listening socket that a service manager passes to this process; null = none.
 * @throws bad_request when there are several
 */
export function passedSocket(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): number | null {
  // A child process inherits the variables, but not the sockets.
  if (environment['LISTEN_PID'] !== String(pid)) return null
  const count = environment['LISTEN_FDS'] ?? '0'
  if (count === '1') return firstDescriptor
  throw badRequest(`LISTEN_FDS is "${count}", but das serves on one socket: pass one.`)
}
