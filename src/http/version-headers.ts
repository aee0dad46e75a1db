import type { AnswerHead } from '../service/page.js'

type Head = Pick<AnswerHead, 'version' | 'scope'> & Partial<Pick<AnswerHead, 'hint'>>

/**
 * What was read, under which scope, and what else the filters may have meant. No part of an answer
 * can be asked for (`ranges.ts`).
 */
export function versionHeaders({ version, scope, hint = null }: Head) {
  return {
    'X-Dataset-Version': version.id,
    'Accept-Ranges': 'none',
    'Last-Modified': new Date(version.modifiedMs).toUTCString(),
    ...(scope !== null && { 'X-Scope': headerText(scope) }),
    ...(hint !== null && { 'X-Hint': headerText(hint) }),
  }
}

/** Percent-encoded beyond ASCII, and `%` itself. */
export function headerText(text: string): string {
  return text.replace(/[^ -$&-~]+/g, encodeURIComponent)
}
