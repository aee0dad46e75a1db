import { readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import type { Email } from 'postal-mime'
import { eventually } from '../harness/wait.js'

const wait = { withinMs: 60_000, everyMs: 100 }

/**
 * Waits for a letter with such a subject, and takes it out of the maildir.
 * @throws Fault where none comes in a minute
 */
export function takeLetter(maildir: string, subject: RegExp): Promise<Email> {
  const folder = join(maildir, 'new')
  return eventually(`a letter with the subject ${String(subject)}`, wait, async () => {
    for (const name of await readdir(folder).catch(() => [])) {
      const letter = await PostalMime.parse(await readFile(join(folder, name)))
      if (!subject.test(letter.subject ?? '')) continue
      await rm(join(folder, name))
      return letter
    }
    return undefined
  })
}
