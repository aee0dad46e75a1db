import { correctable } from '../columns/correction.js'
import type { ServiceError } from '../errors.js'
import { isSignature, signatureOf } from '../signature.js'
import type { FilePosition, KeyPosition, Position } from './question.js'

/** The scope of a cursor: another dataset, version, filter or subscription refuses the cursor. */
export interface CursorScope {
  readonly dataset: string
  /** 16 hexadecimal digits. */
  readonly version: string
  readonly principal: string
  /** The caller's filters in canonical form. */
  readonly filters: string
}

/**
 * The first byte of a cursor: by a position in files, or by the values of a key. Format 1, with an
 * unencrypted position, is refused.
 */
const fileFormat = 2
const keyFormat = 4
/** The first byte of the key stream's input; that of the signature's input is the format. */
const streamFormat = 3
const headBytes = 1 + 8
const positionBytes = 4 + 6
const signatureBytes = 16
/** The header of a request holds no more. */
const cursorBytesMax = 8192
const streamBlockBytes = 32

/**
 * A position as an opaque text: format (1 byte), version (8), then file (4) and row (6), or the
 * values of the key as JSON, encrypted, and an HMAC-SHA256 over the plain bytes and the whole
 * scope, cut to 16 bytes. Plain row numbers would reveal how many hidden rows lie between two rows.
 * The signature is also the initialization vector (SIV, RFC 5297): one position of a walk always
 * gives the same text, and the key stream, an HMAC-SHA256 of the signature, differs for each
 * position.
 */
export function writeCursor(key: Uint8Array, scope: CursorScope, position: Position): string {
  const isKey = 'key' in position
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(isKey ? keyFormat : fileFormat, 0)
  head.write(scope.version, 1, 8, 'hex')
  const plain = isKey ? Buffer.from(JSON.stringify(position.key)) : plainOf(position)
  const signed = signature(key, scope, head, plain)
  return Buffer.concat([head, encrypted(key, signed, plain), signed]).toString('base64url')
}

/** The version that a cursor claims, not yet verified; null if it names none. */
export function cursorVersion(text: string): string | null {
  const head = Buffer.from(text, 'base64url').subarray(0, headBytes)
  const isKnown = head[0] === fileFormat || head[0] === keyFormat
  return head.length === headBytes && isKnown ? head.toString('hex', 1) : null
}

/**
 * Returns the position of a cursor.
 * @throws bad_request, with the same text for every defect
 */
export function readCursor(key: Uint8Array, scope: CursorScope, text: string): Position {
  const bytes = Buffer.from(text, 'base64url')
  const isWhole = isLength(bytes) && bytes.toString('base64url') === text
  const plain = isWhole ? positionOf(key, scope, bytes) : null
  if (!plain || bytes.toString('hex', 1, headBytes) !== scope.version) throw badCursor()
  if (bytes[0] === keyFormat) return { key: JSON.parse(String(plain)) as KeyPosition['key'] }
  return { file: plain.readUInt32BE(0), row: plain.readUIntBE(4, 6) }
}

/** Whether a position of the cursor's format can have this length. */
function isLength({ 0: format, length }: Buffer): boolean {
  const position = length - headBytes - signatureBytes
  if (format === fileFormat) return position === positionBytes
  return format === keyFormat && position > 0 && length <= cursorBytesMax
}

function plainOf({ file, row }: FilePosition): Buffer {
  const plain = Buffer.alloc(positionBytes)
  plain.writeUInt32BE(file, 0)
  plain.writeUIntBE(row, 4, 6)
  return plain
}

/** The refusal of a cursor, with the same text for every reason. */
export function badCursor(): ServiceError {
  return correctable(
    'The cursor is not valid for this request. Repeat the request that gave it with the same ' +
      'filters, or start again without a cursor.',
    { kind: 'drop', key: 'cursor' },
  )
}

/** Decrypts the position of a complete cursor; null if the signature is wrong. */
function positionOf(key: Uint8Array, scope: CursorScope, bytes: Buffer): Buffer | null {
  const signed = bytes.subarray(-signatureBytes)
  const plain = encrypted(key, signed, bytes.subarray(headBytes, -signatureBytes))
  const expected = signature(key, scope, bytes.subarray(0, headBytes), plain)
  return isSignature(signed, expected) ? plain : null
}

function signature(key: Uint8Array, scope: CursorScope, head: Buffer, plain: Buffer): Buffer {
  const { dataset, version, principal, filters } = scope
  const bound = JSON.stringify([dataset, version, principal, filters])
  return signatureOf(key, head, plain, bound).subarray(0, signatureBytes)
}

/** Encrypts and decrypts. */
function encrypted(key: Uint8Array, signed: Buffer, position: Buffer): Buffer {
  const blocks: Buffer[] = []
  for (let index = 0; index * streamBlockBytes < position.length; index++) {
    // The first block has no number: a position in files needs no other.
    const number = index > 0 ? String(index) : ''
    blocks.push(signatureOf(key, Buffer.of(streamFormat), signed, number))
  }
  const stream = Buffer.concat(blocks)
  return Buffer.from(position.map((byte, index) => byte ^ (stream[index] ?? 0)))
}
