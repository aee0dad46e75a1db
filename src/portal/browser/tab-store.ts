const tokenKey = 'token'
const askedKey = 'asked'
const store = openStore()

/** The visitor's own token, or null. It is kept in this tab only, until the tab is closed. */
export function ownToken(): string | null {
  return store.getItem(tokenKey)
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
