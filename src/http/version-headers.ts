import type { AnswerHead } from '../service/page.js'

/**
 * What was read, and under which scope; names of columns are percent-encoded beyond ASCII. No part
 * of an answer can be asked for (`ranges.ts`).
 */
export function versionHeaders({ version, scope }: Pick<AnswerHead, 'version' | 'scope'>) {
  return {
    'X-Dataset-Version': version.id,
    'Accept-Ranges': 'none',
    'Last-Modified': new Date(version.modifiedMs).toUTCString(),
    ...(scope !== null && { 'X-Scope': scope.replace(/[^ -~]+/g, encodeURIComponent) }),
  }
}
