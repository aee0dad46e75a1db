import type { Output } from './parts.js'

/** Takes the lines of the log. */
export interface LogLines {
  readonly write: (line: string) => void
  /** Writes at once what waits, before the process ends. */
  readonly flush: () => void
}

/** Writes the lines of one turn of the event loop together: a busy server writes less often. */
export function logLines(output: Output): LogLines {
  let waiting = ''
  const flush = () => {
    if (waiting === '') return
    const lines = waiting
    waiting = ''
    output.write(lines)
  }
  const write = (line: string) => {
    if (waiting === '') setImmediate(flush)
    waiting += line
  }
  return { write, flush }
}
