import { finding } from './finding-table.js'
import type { Finding, FindingCode } from './finding-table.js'

interface RefusalRule {
  readonly code: FindingCode
  /** Matches the catalog's text of this refusal. */
  readonly words: RegExp
  /** What to do, if the catalog's text does not say it. */
  readonly advice?: string
}

const rules: readonly RefusalRule[] = [
  {
    code: 'name_clash',
    words: /: two columns have the name /,
    advice: 'give one of them another name in columns',
  },
  { code: 'name_clash', words: /differ in case only/ },
  {
    code: 'name_clash',
    words: /names must differ in more than case$/,
    advice: 'rename one of them in the file',
  },
  { code: 'name_reserved', words: /clashes with the request parameter of that name/ },
  { code: 'name_reserved', words: /has a name that the engine uses itself/ },
  { code: 'types_clash', words: /no type holds both without loss|, which [A-Z].* can't hold; / },
]

/** The finding for a line of the catalog's reason why a dataset can't be served. */
export function refusal(line: string): Finding {
  const rule = rules.find(({ words }) => words.test(line))
  if (!rule) return finding('refused', line)
  return finding(rule.code, rule.advice ? `${line}; ${rule.advice}` : line)
}
