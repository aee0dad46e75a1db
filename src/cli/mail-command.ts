import type { Command } from 'commander'
import { inOrder } from '../control/in-order.js'
import { listLetters } from '../control/letters.js'
import type { Letter, LetterEnd, LetterState } from '../control/letters.js'
import type { ControlStore } from '../control/store/store.js'
import { findCode } from '../control/mailed-codes/email-codes.js'
import { showOrder } from '../control/orders.js'
import { listSubscriptions } from '../control/subscriptions.js'
import { badRequest } from '../errors.js'
import { readMailSettings } from '../sales/letters/mail-settings.js'
import { deliverHeld, holdLetter } from '../sales/letters/outbox.js'
import type { OutboxParts } from '../sales/letters/outbox.js'
import { isoTime, isoTimeOrNull } from '../text.js'
import { addCommand, addGroup, addPrinted, readSettings } from './command.js'
import type { Flags, Result } from './command.js'
import type { CliParts } from './parts.js'
import { minute, printJson, printLines } from './print.js'
import { linesOrNone } from './table.js'
import { readStore } from './state.js'
import { mailSettingNames, withOutbox } from './mailing.js'

type ListFlags = Flags & { readonly all?: boolean }

/** A letter with its address. */
type AddressedLetter = Letter & { readonly email: string }

/** The result of `das mail send` for a letter; `held` = another process sends or has sent it. */
interface Attempt {
  readonly letter: AddressedLetter
  readonly end: LetterEnd | { readonly state: 'held' }
}

/** `das mail …`: the letters of the service. */
export function addMail(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'mail',
    'List waiting and failed letters, and send them.',
    'das mail list',
  )
  addPrinted(group, parts, {
    usage: 'list',
    description: 'List letters that wait or failed. Tokens are never shown.',
    options: (command) => command.option('--all', 'also list sent and dropped letters'),
    settings: ['state'],
    json: 'print [{id, kind, subscription, order, email, state, created_at, attempts, …}]',
    examples: ['das mail list', 'das mail list --all'],
    run: ({ state }, { all }: ListFlags) => list(parts, state, all === true),
  })
  addCommand(group, {
    usage: 'send',
    description: 'Send every waiting letter now. Exits with 1 if one still waits.',
    settings: mailSettingNames,
    json: 'print [{id, kind, subscription, order, email, state, reason, next_attempt}]',
    examples: ['das mail send'],
  }).action((flags: Flags) => send(parts, flags))
}

async function list(parts: CliParts, state: string, isAll: boolean): Promise<Result> {
  const states: readonly LetterState[] = isAll
    ? ['waiting', 'sent', 'failed', 'dropped']
    : ['waiting', 'failed']
  const letters = (await readStore(parts, state, (store) => addressed(store, states))) ?? []
  return {
    json: letters.map(letterJson),
    lines: linesOrNone(parts.stdout, letters, 'No letter waits and no letter failed.', {
      ID: (each) => each.letterId,
      KIND: (each) => each.kind,
      ABOUT: (each) => each.subscriptionId ?? each.orderId,
      'E-MAIL': (each) => each.email,
      STATE: (each) => each.state,
      ATTEMPTS: (each) => each.attempts,
      'NEXT ATTEMPT': (each) => (each.state === 'waiting' ? minute(each.nextAttemptAt) : null),
      'LAST ERROR': (each) => each.lastError,
    }),
  }
}

async function addressed(
  store: ControlStore,
  states: readonly LetterState[],
): Promise<AddressedLetter[]> {
  const emails = new Map(
    (await listSubscriptions(store)).map(({ subscriptionId, email }) => [subscriptionId, email]),
  )
  return await inOrder(await listLetters(store, states), async (letter) => ({
    ...letter,
    email: await recipientOf(store, emails, letter),
  }))
}

/** The address of a letter; letters to the owners go to the registry's addresses. */
async function recipientOf(
  store: ControlStore,
  emails: ReadonlyMap<string, string>,
  { kind, subscriptionId, orderId, codeId }: Letter,
): Promise<string> {
  if (kind === 'new-order' || kind === 'order-done') return 'owners'
  if (subscriptionId !== null) return emails.get(subscriptionId) ?? ''
  if (orderId !== null) return (await showOrder(store, orderId)).email
  return (codeId === null ? undefined : (await findCode(store, codeId))?.email) ?? ''
}

function letterJson(letter: AddressedLetter) {
  return {
    id: letter.letterId,
    kind: letter.kind,
    subscription: letter.subscriptionId,
    order: letter.orderId,
    email: letter.email,
    state: letter.state,
    created_at: isoTime(letter.createdAt),
    attempts: letter.attempts,
    next_attempt: letter.state === 'waiting' ? isoTime(letter.nextAttemptAt) : null,
    done_at: isoTimeOrNull(letter.doneAt),
    last_error: letter.lastError,
  }
}

/** @throws bad_request when mail is off; Error when a letter still waits */
async function send(parts: CliParts, flags: Flags): Promise<void> {
  const config = readSettings(mailSettingNames, flags, parts.environment)
  const settings = readMailSettings(config)
  if (settings === null) throw badRequest('Mail is off. Set DAS_SMTP_URL to a mail server.')
  const letters =
    (await readStore(parts, config.state, (store) => addressed(store, ['waiting']))) ?? []
  if (letters.length === 0) {
    if (flags.json) printJson(parts, [])
    else printLines(parts, 'No letter waits.')
    return
  }
  const stillWaiting = await withOutbox(parts, config, settings, async (outbox) => {
    await sendAll(parts, flags, outbox, letters)
    return (await listLetters(outbox.store, ['waiting'])).length
  })
  if (stillWaiting > 0) {
    throw new Error(`${stillWaiting} ${stillWaiting === 1 ? 'letter' : 'letters'} still wait.`)
  }
}

async function sendAll(
  parts: CliParts,
  flags: Flags,
  outbox: OutboxParts,
  letters: readonly AddressedLetter[],
): Promise<void> {
  const attempts: Attempt[] = []
  for (const letter of letters) {
    const attempt = { letter, end: await tryNow(outbox, letter) }
    attempts.push(attempt)
    if (!flags.json) printLines(parts, attemptLine(attempt))
  }
  if (flags.json) printJson(parts, attempts.map(attemptJson))
}

async function tryNow(outbox: OutboxParts, { letterId }: Letter): Promise<Attempt['end']> {
  const held = await holdLetter(outbox, { letterId })
  return held === undefined ? { state: 'held' } : (await deliverHeld(outbox, held)).end
}

function attemptLine({ letter, end }: Attempt): string {
  const name = `Letter ${letter.letterId} (${letter.kind}) to ${letter.email}`
  switch (end.state) {
    case 'sent':
      return `${name}: sent.`
    case 'waiting':
      return `${name}: not sent yet: ${end.reason}. Next attempt: ${minute(end.nextAttemptAt)}.`
    case 'failed':
      return `${name}: failed: ${end.reason}.`
    case 'dropped':
      return `${name}: dropped: ${end.reason}.`
    case 'held':
      return `${name}: another process sends it.`
  }
}

function attemptJson({ letter, end }: Attempt) {
  return {
    id: letter.letterId,
    kind: letter.kind,
    subscription: letter.subscriptionId,
    order: letter.orderId,
    email: letter.email,
    state: end.state,
    reason: 'reason' in end ? end.reason : null,
    next_attempt: end.state === 'waiting' ? isoTime(end.nextAttemptAt) : null,
  }
}
