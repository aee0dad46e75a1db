import { createHmac, timingSafeEqual } from 'node:crypto'
import { badRequest } from '../errors.js'
import type { Position } from './question.js'

/** What a cursor is good for: any other dataset, version, filter or subscription refuses it. */
export interface CursorScope {
  readonly dataset: string
  /** 16 hexadecimal digits. */
  readonly version: string
  readonly principal: string
  /** The caller's filters in canonical form. */
  readonly filters: string
}

/** The first byte of a cursor. Cursors of format 1 had their position in the clear: refused. */
const format = 2
/** The first byte of what a key stream is made of; what is signed begins with `format`. */
const streamFormat = 3
const headBytes = 1 + 8
const positionBytes = 4 + 6
const signatureBytes = 16
const cursorBytes = headBytes + positionBytes + signatureBytes

/**
 * A position as an opaque text: format (1 byte), version (8), then file (4) and row (6), encrypted,
 * and an HMAC-SHA256, cut to 16 bytes, over these in the clear and the whole scope. Row numbers
 * would reveal how many hidden rows lie in between. The signature is also the initialization
 * vector (SIV, RFC 5297): the same position of a walk is the same text, and the key stream, an
 * HMAC-SHA256 of it, differs for every other.
 */
export function writeCursor(key: Uint8Array, scope: CursorScope, position: Position): string {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(format, 0)
  head.write(scope.version, 1, 8, 'hex')
  const plain = Buffer.alloc(positionBytes)
  plain.writeUInt32BE(position.file, 0)
  plain.writeUIntBE(position.row, 4, 6)
  const signed = signature(key, scope, head, plain)
  return Buffer.concat([head, encrypted(key, signed, plain), signed]).toString('base64url')
}

/** The version that a cursor says it belongs to, not yet believed; null where it says nothing. */
export function cursorVersion(text: string): string | null {
  const head = Buffer.from(text, 'base64url').subarray(0, headBytes)
  return head.length === headBytes && head[0] === format ? head.toString('hex', 1) : null
}

/**
 * The position that a cursor names.
 * @throws bad_request, in one text for whatever is wrong with it
 */
export function readCursor(key: Uint8Array, scope: CursorScope, text: string): Position {
  const bytes = Buffer.from(text, 'base64url')
  const isWhole = bytes.length === cursorBytes && bytes.toString('base64url') === text
  const plain = isWhole ? positionOf(key, scope, bytes) : null
  if (!plain || bytes[0] !== format || bytes.toString('hex', 1, headBytes) !== scope.version) {
    throw badRequest(
      'The cursor is not valid for this request. Repeat the request that gave it with the same ' +
        'filters, or start again without a cursor.',
      { kind: 'drop-cursor' },
    )
  }
  return { file: plain.readUInt32BE(0), row: plain.readUIntBE(4, 6) }
}

/** The position of a whole cursor in the clear; null where the signature is not ours. */
function positionOf(key: Uint8Array, scope: CursorScope, bytes: Buffer): Buffer | null {
  const signed = bytes.subarray(headBytes + positionBytes)
  const plain = encrypted(key, signed, bytes.subarray(headBytes, headBytes + positionBytes))
  const expected = signature(key, scope, bytes.subarray(0, headBytes), plain)
  return timingSafeEqual(signed, expected) ? plain : null
}

function signature(key: Uint8Array, scope: CursorScope, head: Buffer, plain: Buffer): Buffer {
  const { dataset, version, principal, filters } = scope
  return createHmac('sha256', key)
    .update(head)
    .update(plain)
    .update(JSON.stringify([dataset, version, principal, filters]))
    .digest()
    .subarray(0, signatureBytes)
}

/** Encrypts and decrypts alike. */
function encrypted(key: Uint8Array, signed: Buffer, position: Buffer): Buffer {
  const stream = createHmac('sha256', key).update(Buffer.of(streamFormat)).update(signed).digest()
  return Buffer.from(position.map((byte, index) => byte ^ (stream[index] ?? 0)))
}
