const clearLine = '\r\u001b[K'

/** What a script says while it runs, and at its end. */
export interface Progress {
  /** A line to stderr, with the script's name. */
  readonly log: (words: string) => void
  /**
   * What runs now: on a terminal each line replaces the one before, elsewhere only milestones are
   * written.
   */
  readonly update: (words: string, isMilestone?: boolean) => void
  /** Text to stdout, as it is. */
  readonly print: (text: string) => void
}

/** Writes for the script of this name. */
export function startProgress(name: string): Progress {
  const { stdout, stderr } = process
  const clear = stderr.isTTY ? clearLine : ''
  const log = (words: string) => {
    stderr.write(`${clear}${name}: ${words}\n`)
  }
  const update = (words: string, isMilestone = true) => {
    if (stderr.isTTY) stderr.write(`${clear}${name}: ${words}`)
    else if (isMilestone) log(words)
  }
  const print = (text: string) => {
    stderr.write(clear)
    stdout.write(text)
  }
  return { log, update, print }
}
