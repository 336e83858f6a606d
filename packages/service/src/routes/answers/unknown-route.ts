import type { FastifyInstance, FastifyRequest } from 'fastify'
import { destinationFrom } from '../../task/lane.ts'
import { didYouMean } from '../requests/near-words.ts'
import { Refusal } from './refusal.ts'

/** Which methods each path takes, for those who ask for another. */
export class KnownRoutes {
  readonly #methods = new Map<string, Set<string>>()

  /** Hears of every route that is added from now on. */
  constructor(api: FastifyInstance) {
    api.addHook('onRoute', ({ url, method }) => {
      const methods = this.#methods.get(url) ?? new Set()
      for (const each of [method].flat()) methods.add(each)
      this.#methods.set(url, methods)
    })
  }

  /** Why a request leads nowhere. */
  refusalOf({ method, raw }: FastifyRequest): Refusal {
    const [path = ''] = raw.url!.split('?', 1)
    const known = this.#knownTo(path)
    if (known !== undefined) {
      const allow = [...this.#methods.get(known)!].join(', ')
      return new Refusal('method-not-allowed', { detail: `It takes ${allow}, not ${method}.`, headers: { allow } })
    }
    const encoded = withOriginEncoded(path)
    if (encoded !== undefined && this.#knownTo(encoded) !== undefined)
      return new Refusal('route-not-found', { detail: `An origin in a path has to be percent-encoded: ${encoded}` })
    const meant = didYouMean(path.replace(/\/$/, ''), this.#methods.keys())
    return new Refusal('route-not-found', { detail: `Nothing is there${meant || '; /openapi.json lists every path.'}` })
  }

  #knownTo(path: string): string | undefined {
    return [...this.#methods.keys()].find(url => leadsTo(url, path))
  }
}

/** The path of a destination whose origin was written as it is, as it was meant. */
function withOriginEncoded(path: string): string | undefined {
  const [, origin = '', rest = ''] = /^\/destinations\/(https?:\/\/[^/]+)(?:\/|(\/.+))?$/i.exec(path) ?? []
  const destination = destinationFrom(origin)
  return destination === undefined ? undefined : `/destinations/${encodeURIComponent(destination)}${rest}`
}

/** A part that begins with a colon stands for anything. */
function leadsTo(url: string, path: string): boolean {
  const parts = path.split('/')
  const wanted = url.split('/')
  return wanted.length === parts.length && wanted.every((part, at) => part.startsWith(':') || part === parts[at])
}
