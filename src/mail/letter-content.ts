/** A dataset of a subscription as its letters name it. */
export interface LetterGrant {
  readonly title: string
  readonly dataset: string
  readonly plan: string
  /** What the plan holds; null where the registry has the plan no more. */
  readonly offer: { readonly rowsPerMonth: number; readonly history: number | 'all' } | null
}

/** What every letter can say of a subscription. */
export interface LetterSubscription {
  readonly subscriptionId: string
  /** Ms since the epoch. */
  readonly expiresAt: number
  readonly grants: readonly LetterGrant[]
  /** Rows a month over all datasets; null = no such cap. */
  readonly globalRows: number | null
}

/** What a letter says, besides its subscription; times in ms since the epoch. */
export type LetterTopic =
  | { readonly kind: 'new-token'; readonly token: string; readonly base: string }
  | {
      readonly kind: 'reissued-token'
      readonly token: string
      readonly base: string
      /** When the last of the earlier tokens ends; null = none of them works. */
      readonly previousValidUntil: number | null
    }
  | { readonly kind: 'reminder'; readonly daysLeft: number }

/** A language of letters. */
export interface LetterWords {
  readonly subject: (topic: LetterTopic, grants: readonly LetterGrant[]) => string
  /** Opens the letter: what it is about. */
  readonly opening: (topic: LetterTopic, subscription: LetterSubscription) => string
  readonly grant: (grant: LetterGrant) => string
  readonly globalRows: (rows: number) => string
  readonly yourToken: string
  readonly useToken: string
  readonly useMcp: string
  readonly keepSecret: string
  readonly goOn: string
  readonly signature: (subscriptionId: string) => string
}
