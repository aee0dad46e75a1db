import type { Block } from './letter.js'

/** A paragraph. */
export function text(content: string): Block {
  return { kind: 'text', text: content }
}

/** A list. */
export function list(items: readonly string[]): Block {
  return { kind: 'list', items }
}

/** A line to be copied unchanged. */
export function code(content: string): Block {
  return { kind: 'code', text: content }
}

/** A command that tries a token. */
export function tryToken(token: string, base: string): Block {
  const header = `Authorization: Bearer ${token}`
  return code(`curl -H '${header}' '${base.replaceAll("'", '%27')}/v1/'`)
}
