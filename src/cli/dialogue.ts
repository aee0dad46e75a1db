import { createInterface } from 'node:readline/promises'
import type { CliParts } from './parts.js'

/** Asks for a text; Enter accepts the guess. */
export type AskFor = (question: string, guess: string) => Promise<string>

/** Whether stdin and stdout are a terminal, so that a person can answer. */
export function canAsk({ stdin, stdout }: CliParts): boolean {
  return stdin.isTTY === true && stdout.isTTY === true
}

/**
 * Asks questions on the terminal, one after another.
 * @throws Error when the input ends before the answer
 */
export async function withDialogue<T>(
  { stdin, stdout }: CliParts,
  talk: (ask: AskFor) => Promise<T>,
): Promise<T> {
  const lines = createInterface({ input: stdin })
  // Not `question`, which loses lines that arrive before it is called.
  const answers = lines[Symbol.asyncIterator]()
  try {
    return await talk(async (question, guess) => {
      stdout.write(`${question} [${guess === '' ? 'none' : guess}]: `)
      const answer = await answers.next()
      if (answer.done) {
        stdout.write('\n')
        throw new Error('Cancelled. No file was changed.')
      }
      return answer.value.trim() === '' ? guess : answer.value.trim()
    })
  } finally {
    lines.close()
  }
}
