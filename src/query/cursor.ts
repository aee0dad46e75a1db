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

const format = 1
const headBytes = 1 + 8 + 4 + 6
const signatureBytes = 16

/**
 * A position as an opaque text: format (1 byte), version (8), file (4), row (6), and an
 * HMAC-SHA256, cut to 16 bytes, over these and the whole scope. Nothing in it is secret.
 */
export function writeCursor(key: Uint8Array, scope: CursorScope, position: Position): string {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(format, 0)
  head.write(scope.version, 1, 8, 'hex')
  head.writeUInt32BE(position.file, 9)
  head.writeUIntBE(position.row, 13, 6)
  return Buffer.concat([head, signature(key, scope, head)]).toString('base64url')
}

/** The version that a cursor says it belongs to, not yet believed; null where it says nothing. */
export function cursorVersion(text: string): string | null {
  const head = Buffer.from(text, 'base64url').subarray(0, headBytes)
  return head.length === headBytes && head[0] === format ? head.toString('hex', 1, 9) : null
}

/**
 * The position that a cursor names.
 * @throws bad_request, in one text for whatever is wrong with it
 */
export function readCursor(key: Uint8Array, scope: CursorScope, text: string): Position {
  const bytes = Buffer.from(text, 'base64url')
  const head = bytes.subarray(0, headBytes)
  const isWhole =
    bytes.length === headBytes + signatureBytes && bytes.toString('base64url') === text
  const isOurs = isWhole && timingSafeEqual(bytes.subarray(headBytes), signature(key, scope, head))
  if (!isOurs || head[0] !== format || head.toString('hex', 1, 9) !== scope.version) {
    throw badRequest(
      'The cursor is not valid for this request. Repeat the request that gave it with the same ' +
        'filters, or start again without a cursor.',
      { kind: 'drop-cursor' },
    )
  }
  return { file: head.readUInt32BE(9), row: head.readUIntBE(13, 6) }
}

function signature(key: Uint8Array, scope: CursorScope, head: Buffer): Buffer {
  const { dataset, version, principal, filters } = scope
  return createHmac('sha256', key)
    .update(head)
    .update(JSON.stringify([dataset, version, principal, filters]))
    .digest()
    .subarray(0, signatureBytes)
}
