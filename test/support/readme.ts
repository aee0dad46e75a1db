import { readFileSync } from 'node:fs'

const readme = readFileSync('README.md', 'utf8')

/** What the README says of MCP. */
export const mcpSection = readme.slice(
  readme.indexOf('\n## MCP\n'),
  readme.indexOf('\n## registry.yaml\n'),
)

/** The first code block of a language after a sentence, with a test's address for the README's. */
export function mcpExample(sentence: string, language: string, base: string): string {
  const rest = mcpSection.slice(mcpSection.indexOf(sentence))
  const block = new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 's').exec(rest)?.[1]
  if (block === undefined) throw new Error(`no ${language} block after ${sentence}`)
  return block.replaceAll('http://127.0.0.1:8080', base)
}
