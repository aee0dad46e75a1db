/** What errors say of URLs, and what agents write instead. */
const inUrls: readonly (readonly [inUrl: RegExp, inMcp: string])[] = [
  [/GET \/v1\/[^ /]+\/schema lists the columns/g, 'describe_resource lists the columns'],
  [/GET \/v1\/ lists the datasets/g, 'list_resources lists the datasets'],
  [/column or parameter/g, 'column'],
  [/There is no parameter/g, 'There is no argument'],
  [/\blimit=(\d+)/g, 'limit: $1'],
  [/\b(measures|by|q|query)=(\S*[^\s.,;)])/g, '$1: "$2"'],
  [/(\S+)=((?:not_)?(?:is_null|null))(?=$|[\s.,;])/g, '{"column": "$1", "op": "$2"}'],
  [/([^\s(=]+)=([a-z_]+)\.(\S*[^\s.,;)])/g, '{"column": "$1", "op": "$2", "value": "$3"}'],
]

/** What the caller wrote, in quotes. */
const quotedText = /((?<=^|[\s(])"(?:[^"\\]|\\.)*")/

/** The text of an error in the words of tools: names of arguments, no URL. */
export function inMcpWords(detail: string): string {
  const parts = detail.split(quotedText)
  return parts.map((part, index) => (index % 2 === 1 ? part : replaceAll(part))).join('')
}

function replaceAll(detail: string): string {
  return inUrls.reduce((text, [inUrl, inMcp]) => text.replace(inUrl, inMcp), detail)
}
