import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.js'
import { ServiceError, badRequest } from '../errors.js'

const bodyBytesMax = 1024 * 1024
const kibibyte = 1024
/** Each piece costs work, whatever its size; ordinary clients send pieces of 1 KiB or more. */
const piecesMax = 16_384
const firstBytes = 16 * 1024

/**
 * Refuses a body by its announced length.
 * @throws payload_too_large
 */
export function requireSmallBody(headers: IncomingHttpHeaders): void {
  const length = headers['content-length']
  if (length !== undefined && Number(length) > bodyBytesMax) throw tooLarge()
}

function tooLarge(bytesMax = bodyBytesMax): ServiceError {
  return new ServiceError(
    'payload_too_large',
    bytesMax === bodyBytesMax
      ? 'The body is over 1 MiB. Split the question into several.'
      : `The body is over ${bytesMax / kibibyte} KiB.`,
  )
}

/**
 * Reads the body of an admitted request; it may be empty. Sends `100 Continue` to a client that
 * waits for it.
 * @throws payload_too_large as soon as the body exceeds `bytesMax`; bad_request for too many small
 *   pieces; the connection's own error if the client has disconnected
 */
export async function readBody(
  request: FastifyRequest,
  reply: FastifyReply,
  bytesMax = bodyBytesMax,
): Promise<Buffer> {
  const { raw } = request
  if (/\b100-continue\b/i.test(request.headers.expect ?? '')) reply.raw.writeContinue()
  let body = Buffer.allocUnsafe(firstBytes)
  let bytes = 0
  let pieces = 0
  const add = (piece: Buffer) => {
    if (bytes + piece.length > bytesMax) throw tooLarge(bytesMax)
    if (++pieces > piecesMax) {
      throw badRequest(`The body has more than ${piecesMax} chunks. Send larger ones.`)
    }
    // Copied at once: a one-byte piece uses a hundred times its size.
    while (bytes + piece.length > body.length) body = Buffer.concat([body], 2 * body.length)
    bytes += piece.copy(body, bytes)
  }
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: unknown) => {
      raw.off('data', take).pause()
      reject(cause)
    }
    const take = (piece: Buffer) => {
      try {
        add(piece)
      } catch (cause) {
        refuse(cause)
      }
    }
    if (raw.destroyed) {
      refuse(request.context?.signal.reason)
      return
    }
    raw.on('data', take).once('end', resolve).once('error', refuse)
  })
  return body.subarray(0, bytes)
}

/** Whether a request has a body, by its headers. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return encoding !== undefined || Number(length) !== 0
}

/** How long a client that is still sending has to read the answer. */
const lingerMs = 1000

/**
 * Closes the connection after an answer to a request with an incomplete body. The server stops
 * reading the body, and the client receives the answer before the connection closes.
 */
export function closeIfUnread(
  { raw, headers }: FastifyRequest,
  reply: FastifyReply,
  clock: Clock,
): void {
  if (!hasBody(headers) || raw.complete !== false || reply.raw.socket === null) return
  void reply.header('Connection', 'close')
  endGently(reply.raw, reply.raw.socket, clock)
}

/**
 * Node would close the connection at once; the unread bytes would turn the close into a reset, and
 * the client would lose the answer. Here the server ends its own side, discards further data
 * unparsed, up to the size of a body, and leaves the rest to the kernel.
 */
function endGently(response: ServerResponse, socket: Socket, clock: Clock): void {
  socket.destroySoon = () => {
    socket.end()
    clock.after(lingerMs, () => socket.destroy())
  }
  response.once('finish', () => {
    let bytesLeft = bodyBytesMax
    socket.removeAllListeners('data')
    socket.on('data', (piece: Buffer) => {
      bytesLeft -= piece.length
      if (bytesLeft < 0) socket.pause()
    })
    socket.resume()
  })
}

/**
 * The text of a body.
 * @throws bad_request for one that is missing, with this example, or that is not UTF-8
 */
export function decodeBody(body: Buffer, example: string): string {
  if (body.length === 0) throw badRequest(`The request needs a JSON body. ${example}`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw badRequest('The body is not UTF-8.')
  }
}
