import type { preValidationHookHandler } from 'fastify'
import type { TObject } from 'typebox'

/** Up to what a number holds exactly. */
const WHOLE = /^\d{1,15}$/

/** Before the schema looks: digits that stand for a whole number become one. What is none is left for it to refuse. */
export function readNumbers({ properties }: TObject): preValidationHookHandler {
  const numbers = Object.keys(properties).filter(name => (properties[name] as { type?: string }).type === 'integer')
  return (request, _, done) => {
    const query = request.query as { [name: string]: unknown }
    for (const name of numbers) {
      const text = query[name]
      if (typeof text === 'string' && WHOLE.test(text)) query[name] = Number(text)
    }
    done()
  }
}
