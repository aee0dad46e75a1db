import type { Command } from 'commander'
import { listActions } from '../control/audit.js'
import type { AuditDetails } from '../control/audit.js'
import { badRequest } from '../errors.js'
import { plainText } from '../plain-text.js'
import { isoTime } from '../text.js'
import { addPrinted } from './command.js'
import type { Flags, Result } from './command.js'
import type { CliParts } from './parts.js'
import { readFilledStore } from './state.js'
import { linesOrNone } from './table.js'
import { parseDuration } from './duration.js'

type AuditFlags = Flags & { readonly since?: string; readonly subject?: string }

/** `das audit`: what commands and the server changed, when, and who did it. */
export function addAudit(program: Command, parts: CliParts): void {
  addPrinted(program, parts, {
    usage: 'audit',
    description:
      'List what commands and the server changed, newest last: when, who, what, and to which ' +
      'subscription, token or dataset. Entries are never changed or deleted, and hold no token.',
    options: (command) =>
      command
        .option(
          '--since <time>',
          'only from this day or time (UTC) on, or this long ago: 2026-11-21, ' +
            '2026-11-21T05:14Z, 24h, 7d',
        )
        .option(
          '--subject <id>',
          'only what was done to this subscription, token, dataset or e-mail address',
        ),
    settings: ['state'],
    json: 'print [{id, time, actor, action, subject, details}]',
    examples: [
      'das audit --since 7d',
      'das audit --subject sub_0123456789abcdef',
      'das audit --since 2026-11-01 --json > audit-november.json',
    ],
    run: ({ state }, flags: AuditFlags) => list(parts, state, flags),
  })
}

async function list(parts: CliParts, state: string, flags: AuditFlags): Promise<Result> {
  const since = flags.since === undefined ? null : readSince(flags.since, parts.clock.now())
  const subject = flags.subject ?? null
  const entries = await readFilledStore(parts, state, (store) =>
    listActions(store, { since, subject }),
  )
  return {
    json: entries.map(({ id, recordedAt, ...rest }) => ({
      id,
      time: isoTime(recordedAt),
      ...rest,
    })),
    lines: linesOrNone(parts.stdout, entries, 'No such action was recorded.', {
      TIME: (each) => isoTime(each.recordedAt),
      WHO: (each) => plainText(each.actor),
      ACTION: (each) => each.action,
      SUBJECT: (each) => plainText(each.subject),
      DETAILS: (each) => detailsText(each.details),
    }),
  }
}

/** @throws bad_request for a text that is no day, no time in UTC and no duration */
function readSince(text: string, now: number): number {
  if (/^\d+[smhd]$/.test(text)) return now - parseDuration(text, '--since')
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? []
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/.test(text)
  const ms = isTime ? Date.parse(text) : NaN
  // Date.parse makes 2 March of 30 February.
  if (!Number.isNaN(ms) && day !== undefined && isoTime(ms).startsWith(day)) return ms
  throw badRequest(
    '--since must be a day or a time in UTC, such as 2026-11-21 or 2026-11-21T05:14Z, or a ' +
      `duration, such as 24h or 7d, got "${text}".`,
  )
}

/** `months: 12, price_rub: 46800`. Without what is null. */
function detailsText(details: AuditDetails): string {
  const known = Object.entries(details).filter(([, value]) => value !== null)
  const texts = known.map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `${name}: ${plainText(text)}`
  })
  return texts.join(', ')
}
