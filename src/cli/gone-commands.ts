import { badRequest } from '../errors.js'

/** Commands of the release before that are gone, and what to use in place of each. */
const goneCommands: Readonly<Record<string, string>> = {
  query:
    'Ask the server with curl and the header "Authorization: Bearer TOKEN": ' +
    '/v1/DATASET?COLUMN=OPERATOR.VALUE, or /v1/DATASET/export for all rows. See docs/rest.md.',
  'subscription orders': 'Use das order list --all: it has all orders, also those of the owner.',
}

/** @throws bad_request for a command that is gone, with what to use in its place */
export function refuseGone(argv: readonly string[]): void {
  const line = `${argv.join(' ')} `
  const gone = Object.entries(goneCommands).find(([name]) => line.startsWith(`${name} `))
  if (gone) throw badRequest(`das ${gone[0]} is gone. ${gone[1]}`)
}
