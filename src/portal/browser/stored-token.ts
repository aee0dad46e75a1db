const key = 'token'
const store = openStore()

/** The visitor's own token; it lives as long as the tab, and nowhere else. */
export function ownToken(): string | null {
  return store.getItem(key)
}

/** Keeps the token for the tab. */
export function keepToken(token: string): void {
  store.setItem(key, token)
}

/** Leaves nothing of the token behind. */
export function forgetToken(): void {
  store.removeItem(key)
}

/** The tab's store; where site data is blocked, one that lives as long as the page. */
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
