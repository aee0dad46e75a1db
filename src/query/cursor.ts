import { createHmac, timingSafeEqual } from 'node:crypto'
import { badRequest } from '../errors.js'
import type { ServiceError } from '../errors.js'
import type { Position } from './question.js'

/** The scope of a cursor: another dataset, version, filter or subscription refuses the cursor. */
export interface CursorScope {
  readonly dataset: string
  /** 16 hexadecimal digits. */
  readonly version: string
  readonly principal: string
  /** The caller's filters in canonical form. */
  readonly filters: string
}

/** The first byte of a cursor. Format 1, with an unencrypted position, is refused. */
const format = 2
/** The first byte of the key stream's input; the signature's input begins with `format`. */
const streamFormat = 3
const headBytes = 1 + 8
const positionBytes = 4 + 6
const signatureBytes = 16
const cursorBytes = headBytes + positionBytes + signatureBytes

/**
 * A position as an opaque text: format (1 byte), version (8), then file (4) and row (6), encrypted,
 * and an HMAC-SHA256 over the plain bytes and the whole scope, cut to 16 bytes. Plain row numbers
 * would reveal how many hidden rows lie between two rows. The signature is also the initialization
 * vector (SIV, RFC 5297): one position of a walk always gives the same text, and the key stream, an
 * HMAC-SHA256 of the signature, differs for each position.
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

/** The version that a cursor claims, not yet verified; null if it names none. */
export function cursorVersion(text: string): string | null {
  const head = Buffer.from(text, 'base64url').subarray(0, headBytes)
  return head.length === headBytes && head[0] === format ? head.toString('hex', 1) : null
}

/**
 * Returns the position of a cursor.
 * @throws bad_request, with the same text for every defect
 */
export function readCursor(key: Uint8Array, scope: CursorScope, text: string): Position {
  const bytes = Buffer.from(text, 'base64url')
  const isWhole = bytes.length === cursorBytes && bytes.toString('base64url') === text
  const plain = isWhole ? positionOf(key, scope, bytes) : null
  if (!plain || bytes[0] !== format || bytes.toString('hex', 1, headBytes) !== scope.version) {
    throw badCursor()
  }
  return { file: plain.readUInt32BE(0), row: plain.readUIntBE(4, 6) }
}

/** The refusal of a cursor, with the same text for every reason. */
export function badCursor(): ServiceError {
  return badRequest(
    'The cursor is not valid for this request. Repeat the request that gave it with the same ' +
      'filters, or start again without a cursor.',
    { kind: 'drop', key: 'cursor' },
  )
}

/** Decrypts the position of a complete cursor; null if the signature is wrong. */
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

/** Encrypts and decrypts. */
function encrypted(key: Uint8Array, signed: Buffer, position: Buffer): Buffer {
  const stream = createHmac('sha256', key).update(Buffer.of(streamFormat)).update(signed).digest()
  return Buffer.from(position.map((byte, index) => byte ^ (stream[index] ?? 0)))
}
