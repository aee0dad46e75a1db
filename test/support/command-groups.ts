/** Commands that only have commands below them. */
export const commandGroups: readonly string[] = [
  ...['connection', 'control', 'dataset', 'mail', 'order', 'report', 'subscription', 'token'],
  'webhook',
]
