import type { Command } from 'commander'
import { addGroup } from '../command.js'
import type { CliParts } from '../parts.js'
import { addControlCopy } from './control-copy.js'

/** `das control …`: where the control store is. */
export function addControl(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'control',
    'Move subscriptions, tokens, usage, orders and the audit trail to a PostgreSQL.',
    'das control copy',
  )
  addControlCopy(group, parts)
}
