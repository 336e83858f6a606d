import type { preValidationHookHandler } from 'fastify'
import type { TObject } from 'typebox'

/** Up to what a number holds exactly. */
const WHOLE = /^\d{1,15}$/

/** Before the schema looks: digits that stand for a whole number become one. What is none is left for it to refuse. */
export function readNumbers(parameters: TObject): preValidationHookHandler {
  return reading(parameters, 'integer', text => (WHOLE.test(text) ? Number(text) : text))
}

/** The same for `true` and `false`. */
export function readFlags(parameters: TObject): preValidationHookHandler {
  return reading(parameters, 'boolean', text => (text === 'true' || text === 'false' ? text === 'true' : text))
}

function reading({ properties }: TObject, type: string, read: (text: string) => unknown): preValidationHookHandler {
  const names = Object.keys(properties).filter(name => (properties[name] as { type?: string }).type === type)
  return (request, _, done) => {
    const query = request.query as { [name: string]: unknown }
    for (const name of names) {
      const text = query[name]
      if (typeof text === 'string') query[name] = read(text)
    }
    done()
  }
}
