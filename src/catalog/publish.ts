import { createHash } from 'node:crypto'
import { constants, copyFile, link, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SourceFile } from './source-files.js'

/** A folder of linked files that no later write at the source's name can change. */
export interface PublishedFiles {
  readonly folder: string
  /** In the order of the source files. */
  readonly paths: readonly string[]
}

const linkRefusals = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EACCES']

/**
 * Links the files into a folder of their own under `versionsFolder`, named after their content, so
 * that a rename or delete at the source changes nothing for readers. Where the file system refuses
 * a link, the file is copied. Publishing the same content again is free.
 */
export async function publishFiles(
  versionsFolder: string,
  dataset: string,
  files: readonly SourceFile[],
): Promise<PublishedFiles> {
  const parent = join(versionsFolder, dataset)
  const folder = join(parent, contentId(files))
  const names = files.map((_, index) => `${String(index).padStart(6, '0')}.parquet`)
  const published = { folder, paths: names.map((name) => join(folder, name)) }
  await mkdir(parent, { recursive: true, mode: 0o700 })
  if (await holdsAll(folder, names)) return published
  const draft = `${folder}.draft`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  for (const [index, file] of files.entries()) {
    await linkOrCopy(file.path, join(draft, names[index] ?? ''))
  }
  await rm(folder, { recursive: true, force: true })
  await rename(draft, folder)
  return published
}

/** Removes every published folder of a dataset but the one in use. */
export async function removeOtherVersions(
  versionsFolder: string,
  dataset: string,
  keep: string,
): Promise<void> {
  const parent = join(versionsFolder, dataset)
  for (const name of await readdir(parent)) {
    if (join(parent, name) !== keep) await rm(join(parent, name), { recursive: true, force: true })
  }
}

function contentId(files: readonly SourceFile[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file.sizeBytes} ${file.footerHash}\n`)
  return hash.digest('hex').slice(0, 16)
}

async function holdsAll(folder: string, names: readonly string[]): Promise<boolean> {
  try {
    const present = new Set(await readdir(folder))
    return names.every((name) => present.has(name))
  } catch {
    return false
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (cause) {
    if (!linkRefusals.includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}
