import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { namesOf, readSearchList } from './search-list.ts'

describe('a search list', () => {
  const CLUSTER = 'nameserver 10.0.0.10\nsearch shop.svc.local svc.local. # ours\noptions ndots:5 edns0\n'

  it('is put behind short names first, and behind long names last', () => {
    const list = readSearchList(CLUSTER)
    assert.deepEqual(namesOf('orders', list), ['orders.shop.svc.local', 'orders.svc.local', 'orders'])
    assert.deepEqual(namesOf('a.b.c.d.e.f', list), [
      'a.b.c.d.e.f',
      'a.b.c.d.e.f.shop.svc.local',
      'a.b.c.d.e.f.svc.local',
    ])
  })

  it('is not used for a name that ends with a dot, nor where there is none', () => {
    assert.deepEqual(namesOf('orders.', readSearchList(CLUSTER)), ['orders'])
    assert.deepEqual(namesOf('api.example', readSearchList('nameserver 10.0.0.10\n')), ['api.example'])
  })

  it('takes the last that was written, and no more than six domains', () => {
    assert.deepEqual(readSearchList('domain old.example\nsearch a b\n').domains, ['a', 'b'])
    assert.equal(readSearchList(`search ${'x '.repeat(20)}`).domains.length, 6)
    assert.deepEqual(readSearchList('search\noptions ndots:x\n'), { domains: [], dots: 1 })
  })
})
