import assert from 'node:assert/strict'
import { fastify } from 'fastify'
import { describe, it } from 'vitest'
import { addRouteHooks } from './route-hooks.ts'

describe('hooks of a route', () => {
  it('run in the order in which they were added, before its own', async () => {
    const api = fastify()
    const called: string[] = []
    const add = (name: string, needs: (url: string) => boolean): void =>
      addRouteHooks(api, ({ url }) =>
        needs(url) ? (_request, _reply, done) => (called.push(name), done()) : undefined,
      )
    add('first', () => true)
    add('second', url => url === '/one')
    const own = async (): Promise<void> => void called.push('own')
    api.get('/one', { onRequest: own }, async () => 'one')
    // In a scope within it, too.
    await api.register(async scope => void scope.get('/two', async () => 'two'))
    await api.inject({ method: 'GET', url: '/one' })
    assert.deepEqual(called.splice(0), ['first', 'second', 'own'])
    await api.inject({ method: 'HEAD', url: '/one' })
    assert.deepEqual(called.splice(0), ['first', 'second', 'own'])
    await api.inject({ method: 'GET', url: '/two' })
    assert.deepEqual(called, ['first'])
    await api.close()
  })
})
