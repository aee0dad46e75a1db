const key = 'token'

/** The visitor's own token; it lives as long as the tab, and nowhere else. */
export function ownToken(): string | null {
  return sessionStorage.getItem(key)
}

/** Keeps the token for the tab. */
export function keepToken(token: string): void {
  sessionStorage.setItem(key, token)
}

/** Leaves nothing of the token behind. */
export function forgetToken(): void {
  sessionStorage.removeItem(key)
}
