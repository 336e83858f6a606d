import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { askedPolicies } from './asked-policies.ts'

describe('the policies that a request names', () => {
  it('are looked for once each, those that are none too, by the next request anew', async () => {
    const document = { policyId: 'payments', version: 1, document: {} as never, isInline: false }
    const looked: string[] = []
    const book = {
      inForce: async ({ policyId }: { policyId: string }) => {
        looked.push(policyId)
        return policyId === 'payments' ? document : undefined
      },
      names: async () => [],
    }
    for (let request = 1; request <= 2; request++) {
      const { named } = askedPolicies(book, 'default')
      for (let item = 0; item < 1_000; item++) {
        assert.equal(await named('payments'), document)
        assert.equal(await named('none'), undefined)
      }
      assert.equal(looked.length, 2 * request)
    }
  })
})
