import type { Language } from '../config.js'
import type { Letter } from '../control/letters.js'
import type { ControlStore } from '../control/store/store.js'
import type { Registry } from '../registry/registry.js'
import type { LetterText } from './letter.js'

/** The data of letters that is not in the control store. */
export interface LetterSource {
  /** Decrypts sealed tokens and codes. */
  readonly key: Uint8Array
  /** Titles and plans; null when it can't be read: then letters leave them out. */
  readonly registry: () => Registry | null
  /** The server's address for subscribers. */
  readonly base: string
}

/** What a letter is written from. */
export interface LetterParts {
  readonly store: ControlStore
  readonly letter: Letter
  readonly source: LetterSource
  readonly now: number
}

/** A letter's text and its reader, or the reason why the letter is dropped. */
export type Written =
  | { readonly to: string; readonly language: Language; readonly text: LetterText }
  | { readonly dropped: string }
