import { accessibleDatasets } from '../access/access.js'
import { joiningLinks } from '../catalog/links.js'
import type { Caller } from '../service.js'

/**
 * Which columns of a dataset find rows of the caller's other datasets, by the registry's links:
 * `inn = procurement.supplier_inn`.
 */
export function joinsOf(
  { principal, catalog }: Pick<Caller, 'principal' | 'catalog'>,
  name: string,
): readonly string[] {
  const seen = accessibleDatasets(principal, catalog)
  const names = new Set(seen.map(({ dataset }) => dataset.name))
  return seen.flatMap(({ dataset, version }) => {
    const key = version.entity?.key.name
    const links = joiningLinks(dataset, catalog.datasets).filter((link) => names.has(link.dataset))
    return links.flatMap((link) => {
      if (dataset.name === name) return [`${key} = ${link.dataset}.${link.column}`]
      return link.dataset === name ? [`${link.column} = ${dataset.name}.${key}`] : []
    })
  })
}
