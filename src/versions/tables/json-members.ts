/** A member of a JSON object, with its value as it is written. */
export interface JsonMember {
  readonly key: string
  /** The JSON text of the value: digits of numbers are unchanged. */
  readonly value: string
}

/** Strings, the brackets of lists and objects, and what separates members. */
const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]/g

/** The members of an object, in their order; `text` is the valid JSON text of an object. */
export function jsonMembers(text: string): readonly JsonMember[] {
  const members: JsonMember[] = []
  let [depth, valueStart] = [0, -1]
  let key: string | null = null
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '{' || token === '[') depth += 1
    else if (depth === 1 && valueStart === -1 && token.startsWith('"')) {
      key = JSON.parse(token) as string
    } else if (depth === 1 && token === ':') valueStart = index + 1
    else if (token === '}' || token === ']' || token === ',') {
      if (depth === 1 && key !== null && valueStart !== -1) {
        members.push({ key, value: text.slice(valueStart, index).trim() })
        ;[key, valueStart] = [null, -1]
      }
      if (token !== ',') depth -= 1
    }
  }
  return members
}
