import { plainText } from '../../plain-text.js'

/** A program that asks for access. It says all this itself: nothing of it is proven. */
export interface Client {
  readonly id: string
  /** Cut and without control characters. */
  readonly name: string
  readonly redirectUris: readonly string[]
  /** The site that publishes the client's document; null for a registered client. */
  readonly host: string | null
}

const nameLettersMax = 60
const textLettersMax = 1000

/** A name as it may be shown; empty if nothing is left of it. */
export function shownName(name: string): string {
  // Invisible characters could make one name look like another.
  const text = plainText(name.slice(0, textLettersMax)).replace(/[\p{Cf}\p{Co}\p{Cn}\s]+/gu, ' ')
  const letters = [...text.trim()]
  if (letters.length <= nameLettersMax) return letters.join('')
  return `${letters.slice(0, nameLettersMax - 1).join('')}…`
}
