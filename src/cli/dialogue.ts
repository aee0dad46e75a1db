import { createInterface } from 'node:readline/promises'
import type { CliParts } from './parts.js'

/** Asks for a text; Enter takes the guess. */
export type AskFor = (question: string, guess: string) => Promise<string>

/** Whether a person is there to be asked: both ends are a terminal. */
export function canAsk({ stdin, stdout }: CliParts): boolean {
  return stdin.isTTY === true && stdout.isTTY === true
}

/**
 * Asks questions on the terminal, one after another.
 * @throws Error when the person ends the input instead of answering
 */
export async function withDialogue<T>(
  { stdin, stdout }: CliParts,
  talk: (ask: AskFor) => Promise<T>,
): Promise<T> {
  const lines = createInterface({ input: stdin })
  // Not `question`: lines that come before they are asked for would be lost.
  const answers = lines[Symbol.asyncIterator]()
  try {
    return await talk(async (question, guess) => {
      stdout.write(`${question} [${guess === '' ? 'none' : guess}]: `)
      const answer = await answers.next()
      if (answer.done) {
        stdout.write('\n')
        throw new Error('Cancelled: nothing was written.')
      }
      return answer.value.trim() === '' ? guess : answer.value.trim()
    })
  } finally {
    lines.close()
  }
}
