/** The most characters of a prefix by which rows can be grouped. */
export const prefixLengthMax = 100

/** A level of a column of codes: its first characters name the group of a code, or a list does. */
export type CodeLevel = PrefixLevel | ListedLevel

/** What a level is called where people read; null without a label. */
interface LevelLabels {
  readonly label: string | null
  readonly russian: { readonly label: string | null }
}

interface PrefixLevel extends LevelLabels {
  readonly name: string
  /** Characters, the point included: 2 for `62` of `62.01`, 5 for `62.01`. */
  readonly length: number
}

interface ListedLevel extends LevelLabels {
  readonly name: string
  readonly uppers: UpperCodes
}

/** The upper code of each code, `J` for `62.01`. */
export interface UpperCodes {
  readonly codes: ReadonlyMap<string, string>
  /** Equal for equal codes: part of entity tags. */
  readonly digest: string
}

/** What the codes of a column mean, in one language. */
export interface CodeNames {
  /** The name of each code, also of the codes of upper levels. */
  readonly names: ReadonlyMap<string, string>
  /** Equal for equal names: part of entity tags. */
  readonly digest: string
}

/** Names of the same codes; a code without a name in one of them has its other name there. */
export interface CodeLabels {
  readonly plain: CodeNames
  readonly russian: CodeNames
  /** The upper codes by the column of the file that has them. */
  readonly uppers: ReadonlyMap<string, UpperCodes>
}
