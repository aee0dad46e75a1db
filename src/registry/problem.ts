import type { YamlPath } from './located-yaml.js'

/** A mistake that shows when registry and files meet. */
export interface Problem {
  /** Where in the dataset's entry of the registry it can be mended. */
  readonly path: YamlPath
  readonly message: string
}
