import FindMyWay from 'find-my-way'
import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The path as its routes write it, also where it lacks the method; undefined = unknown. */
    readonly path: string | undefined
  }
}

/** A path's condition: while it is false, the path is unknown, to every method. */
export interface PathCondition {
  readonly when?: () => boolean
}

/** A path as its routes write it, such as `/v1/:dataset`. */
export interface KnownPath extends PathCondition {
  readonly url: string
  /** In the order of the routes. */
  readonly methods: string[]
}

/** How paths are read, by Fastify's router and by this one. */
export const pathRules = { ignoreTrailingSlash: true, maxParamLength: 100 } as const

/** Where CORS answers preflights. */
const anyPath = '*'

/**
 * The paths of a server, whatever the method. Fastify finds a route by method and path; routes for
 * each of Node's other 30 methods, which would say 405, take two thirds of the time to build it.
 */
export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>()
  readonly #router = FindMyWay(pathRules)

  /** Collects the routes that are added from now on. */
  constructor(app: FastifyInstance) {
    app.addConstraintStrategy({
      name: 'when',
      storage: () => {
        const routes: [when: () => boolean, route: never][] = []
        return {
          get: () => routes.find(([when]) => when())?.[1] ?? null,
          set: (when, route) => routes.push([when as () => boolean, route as never]),
        }
      },
      validate: () => {},
      deriveConstraint: () => true,
    })
    app.addHook('onRoute', ({ url, method, constraints }) => {
      this.#add(url, [method].flat(), constraints as PathCondition | undefined)
    })
    const wrong = (request: FastifyRequest) => this.ofWrongMethod(request)?.url
    app.decorateRequest('path', {
      getter(this: FastifyRequest) {
        const { url = anyPath } = this.routeOptions
        return url === anyPath ? wrong(this) : url
      },
    })
  }

  /** The path of a request that has no route; undefined = unknown, or its route found nothing. */
  ofWrongMethod({ is404, raw, method, routeOptions }: FastifyRequest): KnownPath | undefined {
    if (!is404 && routeOptions.url !== anyPath) return undefined
    const path = this.#router.find('GET', raw.url ?? '')?.store as KnownPath | undefined
    // A route may find nothing for its path.
    if (!path || path.methods.includes(method)) return undefined
    return path.when?.() === false ? undefined : path
  }

  #add(url: string, methods: readonly string[], condition: PathCondition = {}): void {
    const known = this.#paths.get(url)
    known?.methods.push(...methods)
    if (known || url === anyPath) return
    const path = { url, methods: [...methods], ...condition }
    this.#paths.set(url, path)
    this.#router.on('GET', url, () => undefined, path)
  }
}
