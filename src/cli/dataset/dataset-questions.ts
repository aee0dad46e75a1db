import { badRequest } from '../../errors.js'
import { didYouMean, quoted } from '../../text.js'
import type { Version } from '../../versions/version.js'
import { withDialogue } from '../dialogue.js'
import type { AskFor } from '../dialogue.js'
import type { CliParts } from '../parts.js'
import { printLines } from '../print.js'
import type { Draft } from './dataset-entry.js'

/** Options of the command line, which are not asked for. */
interface GivenOptions {
  readonly name?: unknown
  readonly title?: unknown
  readonly key?: unknown
  readonly history?: unknown
}

const triesMax = 5
const none = '-'

/** @throws bad_request for a name that is invalid or taken */
export function requireName(name: string, taken: ReadonlySet<string>): void {
  const problem = nameProblem(name, taken)
  if (problem !== null) throw badRequest(problem)
}

/** The draft with the owner's answers; Enter accepts a guess. */
export async function askDraft(
  parts: CliParts,
  draft: Draft,
  version: Version,
  taken: ReadonlySet<string>,
  given: GivenOptions,
): Promise<Draft> {
  const names = version.columns.filter(({ hidden }) => !hidden).map(({ name }) => name)
  const columnsProblem = (text: string) => {
    const wrong = listed(text).find((name) => !names.includes(name))
    if (wrong === undefined) return null
    return `There is no column ${quoted(wrong)}.${didYouMean(wrong, names)}`
  }
  return await withDialogue(parts, async (ask) => {
    const asked = async (isGiven: boolean, question: string, guess: string, check: Check) =>
      isGiven ? guess : await askUntilRight(parts, ask, question, guess, check)
    const name = await asked(given.name !== undefined, 'Name in URLs', draft.name, (text) =>
      nameProblem(text, taken),
    )
    const title = await asked(given.title !== undefined, 'Title', draft.title, () => null)
    const keyGuess = draft.key.join(', ')
    const key = await asked(given.key !== undefined, keyQuestion, keyGuess, columnsProblem)
    const historyGuess = draft.history ?? ''
    const isGiven = given.history !== undefined
    const history = await asked(isGiven, historyQuestion, historyGuess, columnsProblem)
    const keyNames = given.key === undefined ? listed(key) : draft.key
    return { ...draft, name, title, key: keyNames, history: listed(history)[0] ?? null }
  })
}

const keyQuestion = `Key, the columns for look-ups, "${none}" for none`
const historyQuestion = `History, the column in which plans count years, "${none}" for none`

type Check = (text: string) => string | null

async function askUntilRight(
  parts: CliParts,
  ask: AskFor,
  question: string,
  guess: string,
  check: Check,
): Promise<string> {
  for (let tries = 0; tries < triesMax; tries++) {
    const text = await ask(question, guess)
    const problem = check(text)
    if (problem === null) return text
    printLines(parts, problem)
  }
  throw new Error('Cancelled. No file was changed.')
}

function listed(text: string): readonly string[] {
  if (text === none) return []
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function nameProblem(name: string, taken: ReadonlySet<string>): string | null {
  if (!/^[a-z0-9_]{1,64}$/.test(name)) {
    return `A dataset's name must be 1 to 64 of a-z, 0-9 and "_", got ${quoted(name)}.`
  }
  if (name === 'account') return 'The name "account" is reserved.'
  if (!taken.has(name)) return null
  return `The registry already has "${name}". Change its files there, or use another --name.`
}
