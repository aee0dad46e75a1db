export interface SnippetRequest {
  readonly baseUrl: string
  readonly dataset: string
  /** Encoded, without "?". */
  readonly query: string
  readonly token: string
}

export interface Snippet {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** A question as a user of each tool would write it, ready to paste. */
export function snippetsOf(request: SnippetRequest): readonly Snippet[] {
  const { baseUrl, dataset, query, token } = request
  const url = `${baseUrl}/v1/${dataset}?${query}`
  return [
    {
      id: 'curl',
      title: 'curl',
      text: `curl -s '${url}' \\\n  -H 'Authorization: Bearer ${token}'`,
    },
  ]
}
