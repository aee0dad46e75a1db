import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildCliFixture, registryText } from './fixtures/cli-fixture.js'

const address = { DAS_PUBLIC_URL: 'https://data.example.org/api' }
const portal = `
portal:
  title: {en: Firms, ru: Фирмы}
  headline: {en: Statements of companies, ru: Отчётность компаний}
  logo: logo.svg
  legal: {name: Owner, inn: '7708004767', address: Moscow, email: owner@example.org}
  pages: {terms: terms.md, privacy: {en: privacy.md, ru: privacy.md}}
`
const files = {
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'terms.md': '# Terms',
  'privacy.md': '# Privacy',
}

await t.test('a whole registry makes a whole entry', async (t) => {
  const cli = await buildCliFixture(t)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cli.folder, name), text)
  writeFileSync(join(cli.folder, 'registry.yaml'), registryText + portal)
  const { code, stdout } = await cli.das(['directory', '--json'], { environment: address })
  const entry = JSON.parse(stdout) as Readonly<Record<string, unknown>>
  t.equal(code, 0)
  t.match(entry['server'], {
    $schema: /server\.schema\.json$/,
    name: 'org.example.data/data',
    title: 'Firms',
    description: 'Statements of companies',
    version: /./,
    websiteUrl: 'https://data.example.org/api',
    icons: [{ src: 'https://data.example.org/api/logo.svg' }],
    remotes: [{ type: 'streamable-http', url: 'https://data.example.org/api/mcp' }],
  })
  t.match(entry['tools'], [
    {
      name: 'list_resources',
      title: 'List datasets',
      hints: { readOnlyHint: true, destructiveHint: false },
    },
  ])
  t.notMatch(stdout, /"fetch"/, 'no tool that this server does not offer')
  t.match(entry['links'], {
    website: 'https://data.example.org/api',
    terms: 'https://data.example.org/api/terms',
    privacy: 'https://data.example.org/api/privacy',
    contact: 'owner@example.org',
  })
  t.ok((entry['prompts'] as readonly string[]).length >= 3)
  t.same(entry['missing'], [])
  t.notMatch(stdout, /das_demo_/)
})

await t.test('what is missing is said by its key, and fails the command', async (t) => {
  const cli = await buildCliFixture(t)
  const long = `portal: {headline: ${'long '.repeat(30)}}\n`
  writeFileSync(join(cli.folder, 'registry.yaml'), registryText + long)
  for (const url of ['', 'http://data.example.org', 'https://localhost', 'https://192.0.2.1']) {
    const environment = url === '' ? {} : { DAS_PUBLIC_URL: url }
    const { code, stdout, stderr } = await cli.das(['directory'], { environment })
    t.equal(code, 1)
    t.match(stdout, /^ {2}DAS_PUBLIC_URL: an https address/m, url)
    t.match(stdout, /^ {2}portal\.headline: a line of at most 100 letters\.$/m)
    for (const key of ['title', 'logo', 'pages.terms', 'pages.privacy', 'legal.email']) {
      t.match(stdout, `  portal.${key}`)
    }
    t.match(stderr, 'A directory would refuse this entry.')
  }
})
