import type { Command } from 'commander'
import { listLetters } from '../../control/letters.js'
import type { Letter, LetterEnd, LetterState } from '../../control/letters.js'
import type { ControlStore } from '../../control/store/store.js'
import { listSubscriptions } from '../../control/subscriptions.js'
import { badRequest } from '../../errors.js'
import { readMailSettings } from '../../mail/mail-settings.js'
import { deliverHeld, holdLetter } from '../../mail/outbox.js'
import type { OutboxParts } from '../../mail/outbox.js'
import { addCommand, addGroup, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { isoTime, isoTimeOrNull, minute, printJson, printLines, tableLines } from '../print.js'
import { readStore } from '../state.js'
import { mailSettingNames, withOutbox } from './mailing.js'

type ListFlags = Flags & { readonly all?: boolean }

/** A letter with the address that it goes to. */
type AddressedLetter = Letter & { readonly email: string }

/**
 * How an attempt of `das mail send` ended; `held` = somebody else is sending the letter, or
 * has just done so.
 */
interface Attempted {
  readonly letter: AddressedLetter
  readonly end: LetterEnd | { readonly state: 'held' }
}

/** `das mail …`: letters to subscribers that wait, and those that failed. */
export function addMail(program: Command, parts: CliParts): void {
  const group = addGroup(program, 'mail', 'See and send the letters that wait.', 'das mail list')
  addCommand(group, {
    usage: 'list',
    description: 'List letters that wait or were given up; never their tokens.',
    options: (command) => command.option('--all', 'those that were sent or dropped, too'),
    settings: ['state'],
    json: 'print [{id, kind, subscription, email, state, created_at, attempts, next_attempt, …}]',
    examples: ['das mail list', 'das mail list --all'],
  }).action((flags: ListFlags) => {
    list(parts, flags)
  })
  addCommand(group, {
    usage: 'send',
    description: 'Try every waiting letter now; exit code 1 when one still waits.',
    settings: mailSettingNames,
    json: 'print [{id, kind, subscription, email, state, reason, next_attempt}]',
    examples: ['das mail send'],
  }).action((flags: Flags) => send(parts, flags))
}

function list(parts: CliParts, flags: ListFlags): void {
  const { state } = readSettings(['state'], flags, parts.environment)
  const states: readonly LetterState[] = flags.all
    ? ['waiting', 'sent', 'failed', 'dropped']
    : ['waiting', 'failed']
  const letters = readStore(state, (store) => addressed(store, states)) ?? []
  if (flags.json) printJson(parts, letters.map(letterJson))
  else if (letters.length === 0) printLines(parts, 'No letter waits, and none was given up.')
  else printLines(parts, ...letterTable(parts, letters))
}

function addressed(store: ControlStore, states: readonly LetterState[]): AddressedLetter[] {
  const emails = new Map(
    listSubscriptions(store).map(({ subscriptionId, email }) => [subscriptionId, email]),
  )
  return listLetters(store, states).map((letter) => ({
    ...letter,
    email: emails.get(letter.subscriptionId) ?? '',
  }))
}

function letterJson(letter: AddressedLetter) {
  return {
    id: letter.letterId,
    kind: letter.kind,
    subscription: letter.subscriptionId,
    email: letter.email,
    state: letter.state,
    created_at: isoTime(letter.createdAt),
    attempts: letter.attempts,
    next_attempt: letter.state === 'waiting' ? isoTime(letter.nextAttemptAt) : null,
    done_at: isoTimeOrNull(letter.doneAt),
    last_error: letter.lastError,
  }
}

function letterTable(parts: CliParts, letters: readonly AddressedLetter[]): readonly string[] {
  return tableLines(
    parts.stdout,
    ['ID', 'KIND', 'SUBSCRIPTION', 'E-MAIL', 'STATE', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST ERROR'],
    letters.map((letter) => [
      letter.letterId,
      letter.kind,
      letter.subscriptionId,
      letter.email,
      letter.state,
      letter.attempts,
      letter.state === 'waiting' ? minute(letter.nextAttemptAt) : null,
      letter.lastError,
    ]),
  )
}

/** @throws bad_request where mail is off; Error where a letter still waits */
async function send(parts: CliParts, flags: Flags): Promise<void> {
  const config = readSettings(mailSettingNames, flags, parts.environment)
  const settings = readMailSettings(config)
  if (settings === null) throw badRequest('Mail is off: DAS_SMTP_URL has to name a mail server.')
  const letters = readStore(config.state, (store) => addressed(store, ['waiting'])) ?? []
  if (letters.length === 0) {
    if (flags.json) printJson(parts, [])
    else printLines(parts, 'No letter waits.')
    return
  }
  const stillWaiting = await withOutbox(parts, config, settings, async (outbox) => {
    await sendAll(parts, flags, outbox, letters)
    return listLetters(outbox.store, ['waiting']).length
  })
  if (stillWaiting > 0) throw new Error(`Letters that still wait: ${stillWaiting}.`)
}

async function sendAll(
  parts: CliParts,
  flags: Flags,
  outbox: OutboxParts,
  letters: readonly AddressedLetter[],
): Promise<void> {
  const attempts: Attempted[] = []
  for (const letter of letters) {
    const attempt = { letter, end: await tryNow(outbox, letter) }
    attempts.push(attempt)
    if (!flags.json) printLines(parts, attemptLine(attempt))
  }
  if (flags.json) printJson(parts, attempts.map(attemptJson))
}

async function tryNow(outbox: OutboxParts, { letterId }: Letter): Promise<Attempted['end']> {
  const held = holdLetter(outbox, { letterId })
  return held === undefined ? { state: 'held' } : (await deliverHeld(outbox, held)).end
}

function attemptLine({ letter, end }: Attempted): string {
  const name = `Letter ${letter.letterId} (${letter.kind}) to ${letter.email}`
  switch (end.state) {
    case 'sent':
      return `${name}: sent.`
    case 'waiting':
      return `${name}: not sent yet: ${end.reason}. Next attempt: ${minute(end.nextAttemptAt)}.`
    case 'failed':
      return `${name}: given up: ${end.reason}.`
    case 'dropped':
      return `${name}: dropped: ${end.reason}.`
    case 'held':
      return `${name}: somebody else has it.`
  }
}

function attemptJson({ letter, end }: Attempted) {
  return {
    id: letter.letterId,
    kind: letter.kind,
    subscription: letter.subscriptionId,
    email: letter.email,
    state: end.state,
    reason: 'reason' in end ? end.reason : null,
    next_attempt: end.state === 'waiting' ? isoTime(end.nextAttemptAt) : null,
  }
}
