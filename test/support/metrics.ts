import type { World } from './world.js'

/** The settings of a world that serves metrics. */
export const withMetrics = { metricsPort: '0' }

/** Where a world serves its metrics. */
export function metricsUrl({ log }: World): string {
  const line = log.find((each) => each.includes('"msg":"serving metrics"'))
  if (line === undefined) throw new Error('no metrics are served')
  const { address, port } = JSON.parse(line) as { address: string; port: number }
  return `http://${address}:${port}/metrics`
}

/** The text that Prometheus gets. */
export async function scrape(world: World): Promise<string> {
  const answer = await fetch(metricsUrl(world))
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
  return answer.text()
}

/** Series → value. */
export async function seriesOf(world: World): Promise<ReadonlyMap<string, number>> {
  const lines = (await scrape(world)).split('\n').filter((line) => /^[a-z]/.test(line))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}
