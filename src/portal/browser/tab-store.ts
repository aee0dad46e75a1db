const tokenKey = 'token'
const askedKey = 'asked'
const store = openStore()

/** Marks, in the place of a token, a subscription of who signed in; `askFor` gets its secret. */
export const sessionMark = 'session:'

/** The token that the visitor pasted, or null. It is kept in this tab only, until it is closed. */
export function pastedToken(): string | null {
  return store.getItem(tokenKey)
}

/** The subscription that pays for who signed in, or null. */
export function payer(): string | null {
  return document.documentElement.dataset['payer'] ?? null
}

/** What the visitor reads with: a pasted token, the mark of the own subscription, or null. */
export function ownToken(): string | null {
  const own = payer()
  return pastedToken() ?? (own === null ? null : sessionMark + own)
}

/** Stores the token for this tab. */
export function keepToken(token: string): void {
  store.setItem(tokenKey, token)
}

/** Removes the token, and what was asked with it. */
export function forgetToken(): void {
  store.removeItem(tokenKey)
  store.removeItem(askedKey)
}

/** Remembers the question that was last asked in this tab. */
export function keepAsked(question: string): void {
  store.setItem(askedKey, question)
}

/** Whether this question was the last one asked in this tab. */
export function wasAsked(question: string): boolean {
  return store.getItem(askedKey) === question
}

/** The tab's storage, or memory if the browser blocks site data. */
function openStore(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    return sessionStorage
  } catch {
    const kept = new Map<string, string>()
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => {
        kept.set(key, value)
      },
      removeItem: (key) => {
        kept.delete(key)
      },
    }
  }
}
