import { dirname } from 'node:path'
import { answerCalls } from '../call-thread.js'
import { ServiceError } from '../errors.js'
import { NameIndex } from '../names/find-names.js'
import type { NameCall, NameReply } from './name-finder.js'

// The thread of `name-finder.ts`.

/** Indexes that stay open; a removed file is closed when others are asked. */
const openMax = 16

/** By path, the one that was asked last at the end. */
const open = new Map<string, NameIndex>()

answerCalls<NameCall, NameReply>(async ({ path, question, kind }) => {
  const index = open.get(path) ?? NameIndex.open(path)
  open.delete(path)
  open.set(path, index)
  for (const other of [...open.keys()].slice(0, -openMax)) close(other)
  // A dataset has one index: those of its earlier versions are not asked any more.
  for (const other of open.keys()) {
    if (other !== path && dirname(other) === dirname(path)) close(other)
  }
  try {
    return kind === 'find' ? index.find(question) : index.explain(question)
  } catch (cause) {
    // A file that is made again has the same path.
    if (!(cause instanceof ServiceError)) close(path)
    throw cause
  }
})

function close(path: string): void {
  open.get(path)?.close()
  open.delete(path)
}
