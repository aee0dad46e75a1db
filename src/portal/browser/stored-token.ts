const key = 'token'
const store = openStore()

/** The visitor's own token, or null. It is kept in this tab only, until the tab is closed. */
export function ownToken(): string | null {
  return store.getItem(key)
}

/** Stores the token for this tab. */
export function keepToken(token: string): void {
  store.setItem(key, token)
}

/** Removes the token. */
export function forgetToken(): void {
  store.removeItem(key)
}

/** The tab's storage, or memory if the browser blocks site data. */
function openStore(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    return sessionStorage
  } catch {
    let kept: string | null = null
    return {
      getItem: () => kept,
      setItem: (_, token) => {
        kept = token
      },
      removeItem: () => {
        kept = null
      },
    }
  }
}
