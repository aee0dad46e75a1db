import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { isDynamicPattern } from 'tinyglobby'
import { FileError } from '../opener.js'
import { listMatches } from './list-matches.js'
import type { ListOptions } from './list-matches.js'

/** A pattern in two parts: existing folders, and what to match below them. */
export interface SplitPattern {
  readonly base: string
  readonly rest: string
}

/**
 * The paths that a pattern matches, by name. Existing files and folders are matched by their exact
 * letters, from the left; only the rest is a glob, in which a backslash escapes the next letter.
 * @throws FileError for a glob below a folder with a backslash in its name, and as `listMatches`
 */
export async function expandPattern(
  folder: string,
  pattern: string,
  options?: ListOptions,
): Promise<readonly string[]> {
  const path = resolve(folder, pattern)
  if (await isThere(path)) return [path]
  const { base, rest } = await splitPattern(folder, pattern)
  if (!isDynamicPattern(rest)) {
    const plain = resolve(base, plainName(rest))
    return (await isThere(plain)) ? [plain] : []
  }
  if (base.includes('\\')) {
    throw new FileError(path, 'is below a folder with "\\" in its name: list its files by name')
  }
  return await listMatches(base, rest, options)
}

/** Follows a pattern from `folder` while its parts name existing folders. */
export async function splitPattern(folder: string, pattern: string): Promise<SplitPattern> {
  const parts = pattern.split('/').filter((part) => part !== '')
  let base = isAbsolute(pattern) ? '/' : folder
  let at = 0
  for (; at < parts.length - 1; at += 1) {
    const next = await folderOf(base, parts[at] ?? '')
    if (next === null) break
    base = next
  }
  const rest = parts.slice(at).join('/')
  // At the start of a pattern, "!" would negate it.
  return { base, rest: at > 0 ? rest.replace(/^!(?!\()/, '\\!') : rest }
}

/** A pattern that matches only this path, existing or not. */
export function escapePattern(path: string): string {
  const parts = path.split('/').map((part) => {
    const isPlain = !isDynamicPattern(part) && !part.includes('\\')
    return isPlain ? part : part.replace(/[\\*?[\]{}()!+@|]/g, '\\$&')
  })
  return parts.join('/')
}

/** The folder with a part's exact or unescaped name. */
async function folderOf(base: string, part: string): Promise<string | null> {
  for (const name of isDynamicPattern(part) ? [part] : [part, plainName(part)]) {
    const path = resolve(base, name)
    if ((await stat(path).catch(() => undefined))?.isDirectory()) return path
  }
  return null
}

function plainName(escaped: string): string {
  return escaped.replace(/\\(.)/gs, '$1')
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}
