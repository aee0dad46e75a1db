import type { AnswerHead } from '../service/page.js'

/** What was read, and under which scope; names of columns are percent-encoded beyond ASCII. */
export function versionHeaders({ version, scope }: Pick<AnswerHead, 'version' | 'scope'>) {
  return {
    'X-Dataset-Version': version.id,
    'Last-Modified': new Date(version.modifiedMs).toUTCString(),
    ...(scope !== null && { 'X-Scope': scope.replace(/[^ -~]+/g, encodeURIComponent) }),
  }
}
