import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Any user who is not root. */
const userId = 12_345

/** A folder that `asUser` can enter wherever the tests are: above them, folders may be closed. */
export function openFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'das-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Does the work as a user who is not root, whom permissions of files bind; all in `folder` becomes
 * theirs. This process does everything as that user meanwhile: a module can't be loaded.
 */
export async function asUser<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) {
    for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
      chownSync(join(folder, path), userId, userId)
    }
    process.seteuid?.(userId)
  }
  try {
    return await work()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}
