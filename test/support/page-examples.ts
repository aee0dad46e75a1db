/** A request as a page shows it. */
export interface ShownRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

const address = 'http://127.0.0.1:8080'

/**
 * The simple commands of shell lines, each as its words, without quotes. Pipes, `&&` and ends of
 * lines end a command. `$NAME` is replaced where the name is known, `$(…)` stays as text.
 */
export function shellCommands(
  text: string,
  variables: Readonly<Record<string, string>> = {},
): readonly (readonly string[])[] {
  const expand = (part: string) =>
    part.replaceAll(/\$([A-Z_]+)/g, (whole, name: string) => variables[name] ?? whole)
  const pieces =
    /\\\n|(?<end>\n|&&|\|)|(?<gap>[ \t]+|#.*)|'(?<plain>[^']*)'|"(?<quoted>(?:[^"\\]|\\.)*)"|(?<bare>(?:\$\([^)]*\)|[^\s'"|&\\]|&(?!&)|\\.)+)/g
  const commands: string[][] = [[]]
  let word: string | null = null
  const endWord = () => {
    if (word !== null) commands.at(-1)?.push(word)
    word = null
  }
  for (const { groups = {} } of text.matchAll(pieces)) {
    const { end, gap, plain, quoted, bare } = groups
    if (end !== undefined || gap !== undefined) endWord()
    if (end !== undefined) commands.push([])
    const part = plain ?? expand((quoted ?? bare ?? '').replaceAll(/\\(["\\$])/g, '$1'))
    if (plain !== undefined || quoted !== undefined || bare !== undefined) {
      word = (word ?? '') + part
    }
  }
  endWord()
  return commands.filter((words) => words.length > 0)
}

/** The request of a curl command; null where it goes to another server. */
export function curlRequest(words: readonly string[]): ShownRequest | null {
  const headers: Record<string, string> = {}
  const pairs = new URLSearchParams()
  let url = ''
  let body: string | null = null
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index] ?? ''
    const next = () => words[(index += 1)] ?? ''
    if (word === '-H') Object.assign(headers, headerOf(next()))
    else if (word === '-d') body = next()
    else if (word === '--data-urlencode') pairs.append(...pairOf(next()))
    else if (word === '-o') next()
    else if (!word.startsWith('-')) url = word
  }
  if (!url.startsWith(address)) return null
  const query = pairs.size === 0 ? '' : `?${pairs.toString()}`
  const path = url.slice(address.length) + query
  return { method: body === null ? 'GET' : 'POST', url: path, headers, body }
}

/** The request of an `http` block; null where the block is not a request. */
export function httpRequest(
  text: string,
  variables: Readonly<Record<string, string>>,
): ShownRequest | null {
  const [head = '', body = ''] = text.split(/\n\n([^]*)/)
  const [first = '', ...lines] = head.trimEnd().split('\n')
  const [, method = '', url = ''] = /^(GET|POST|HEAD) (\/\S*)$/.exec(first) ?? []
  if (method === '') return null
  const expanded = lines.map((line) => line.replace('$TOKEN', variables['TOKEN'] ?? '$TOKEN'))
  const headers = Object.assign({}, ...expanded.map(headerOf)) as Record<string, string>
  return { method, url, headers, body: body === '' ? null : body.trim() }
}

/** Whether a text is what a page shows, where `…` stands for anything. */
export function isShown(actual: string, shown: string): boolean {
  const pieces = shown.trim().split('…')
  const first = pieces[0] ?? ''
  const last = pieces.length > 1 ? (pieces.at(-1) ?? '') : ''
  const text = actual.trim()
  if (pieces.length === 1) return text === first
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let place = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, place)
    if (found === -1) return false
    place = found + piece.length
  }
  return place <= text.length - last.length
}

/** JSON without the white space between its tokens: digits and the order of keys stay. */
export function compactJson(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
}

function headerOf(line: string): Readonly<Record<string, string>> {
  const [name = '', value = ''] = line.split(/:\s*([^]*)/)
  return { [name.toLowerCase()]: value }
}

function pairOf(text: string): [string, string] {
  const [name = '', value = ''] = text.split(/=([^]*)/)
  return [name, value]
}

const idPattern = /\b(?:sub|ord|tok)_[0-9A-Za-z]{16}\b/g

/** Pairs the ids that a page shows for the first time with those of the actual output. */
export function learnIds(ids: Map<string, string>, shown: string, actual: string): void {
  const known = new Set(ids.values())
  const fresh = [...new Set(actual.match(idPattern))].filter((id) => !known.has(id))
  const unknown = [...new Set(shown.match(idPattern))].filter((id) => !ids.has(id))
  for (const [index, id] of unknown.entries()) ids.set(id, fresh[index] ?? id)
}

/** Replaces the ids that a page shows with the actual ones. */
export function withActualIds(ids: ReadonlyMap<string, string>, text: string): string {
  return text.replaceAll(idPattern, (id) => ids.get(id) ?? id)
}
