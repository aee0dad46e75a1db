import type { FilePosition, Question } from '../query/question.js'
import type { Rows } from './engine.js'

/** Rows of files. */
export type FileRows = Rows<FilePosition>

/** A question about a version of files. */
export interface FileQuestion extends Question {
  readonly after: FilePosition | null
}

/** The same question, of files. @throws TypeError for a row of another engine's table */
export function fileQuestion(question: Question): FileQuestion {
  const { after } = question
  if (after && !('file' in after)) throw new TypeError('a position by key is not one in files')
  return { ...question, after }
}
