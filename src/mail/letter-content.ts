/** A dataset of a subscription, for letters. */
export interface LetterGrant {
  readonly title: string
  readonly dataset: string
  readonly plan: string
  /** The plan's limits; null when the registry no longer has the plan. */
  readonly offer: { readonly rowsPerMonth: number; readonly history: number | 'all' } | null
}

/** A subscription, for letters. */
export interface LetterSubscription {
  readonly subscriptionId: string
  /** Ms since the epoch. */
  readonly expiresAt: number
  readonly grants: readonly LetterGrant[]
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
}

/** The reason for a letter; times in ms since the epoch. */
export type LetterTopic =
  | { readonly kind: 'new-token'; readonly token: string; readonly base: string }
  | {
      readonly kind: 'reissued-token'
      readonly token: string
      readonly base: string
      /** When the last of the earlier tokens ends; null = no earlier token works. */
      readonly previousValidUntil: number | null
    }
  | { readonly kind: 'reminder'; readonly daysLeft: number }

/** The texts of letters in one language. */
export interface LetterWords {
  readonly subject: (topic: LetterTopic, grants: readonly LetterGrant[]) => string
  /** The first sentence. */
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
