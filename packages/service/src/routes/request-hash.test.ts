import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { requestHash, type AskedFor } from './request-hash.ts'

const request = { targetUrl: 'https://api.example/', method: 'POST', headers: { a: '1', b: '2' }, body: null }
const ASKED: AskedFor = { request, policy: 'default' }

describe('the hash of a request', () => {
  it('is the same for the same request, in whatever order it was written', () => {
    const turned = { ...request, headers: { b: '2', a: '1' } }
    assert.equal(requestHash({ ...ASKED, request: turned }), requestHash(ASKED))
    assert.equal(
      requestHash({ ...ASKED, metadata: { x: '1', y: '2' } }),
      requestHash({ ...ASKED, metadata: { y: '2', x: '1' } }),
    )
  })

  it('is another one as soon as anything that was asked for differs', () => {
    const others: AskedFor[] = [
      { ...ASKED, request: { ...request, targetUrl: 'https://api.example/other' } },
      { ...ASKED, request: { ...request, method: 'PUT' } },
      { ...ASKED, request: { ...request, headers: { a: '1' } } },
      { ...ASKED, request: { ...request, body: new Uint8Array() } },
      { ...ASKED, request: { ...request, body: Buffer.from('x') } },
      { ...ASKED, policy: 'payments' },
      { ...ASKED, delayMs: 1 },
      { ...ASKED, notBefore: 1 },
      { ...ASKED, deadlineAt: 1 },
      { ...ASKED, attemptsMade: 1 },
      { ...ASKED, metadata: { a: '1' } },
      { ...ASKED, callbackUrl: 'https://shop.example/told' },
      { ...ASKED, callbackUrl: 'https://shop.example/other' },
    ]
    assert.equal(new Set([ASKED, ...others].map(requestHash)).size, others.length + 1)
  })

  it('stays what it was in stores that were written before, for whoever asks again after an upgrade', () => {
    assert.equal(requestHash(ASKED), '6kje7H62_RtDggqybvIu7IdHGGFbjzUIQvCPaU1JykI')
  })

  it('is the same for a call that is handed over again, whatever was spent on it meanwhile', () => {
    const first = { ...ASKED, attemptsMade: 3, delayMs: 200, elapsedMs: 900 }
    const again = { ...ASKED, attemptsMade: 2, delayMs: 100, elapsedMs: 400 }
    assert.equal(requestHash(again), requestHash(first))
  })

  it('tells any two sets of headers and bodies apart, however their texts are divided', () => {
    const asked = fc.record({
      headers: fc.dictionary(fc.stringMatching(/^[a-c]{1,2}$/), fc.stringMatching(/^[a-c: ]{0,3}$/), { maxKeys: 2 }),
      body: fc.option(fc.uint8Array({ maxLength: 3 })),
    })
    const written = ({ headers, body }: { headers: { [name: string]: string }; body: Uint8Array | null }): string =>
      JSON.stringify([
        Object.entries(headers).toSorted(([left], [right]) => (left < right ? -1 : 1)),
        body && [...body],
      ])
    fc.assert(
      fc.property(asked, asked, (left, right) => {
        const hashes = [left, right].map(each => requestHash({ ...ASKED, request: { ...request, ...each } }))
        assert.equal(hashes[0] === hashes[1], written(left) === written(right))
      }),
    )
  })
})
