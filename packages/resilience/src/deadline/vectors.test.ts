import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import type { HeaderSource } from '../retry/retry-after.ts'
import { askedTimeoutMs, grpcTimeoutHeader, timeoutHeader, trimmedMs } from './decide.ts'

interface Vectors {
  readonly about: string
  readonly now: number
  readonly reads: readonly { readonly name: string; readonly headers: HeaderSource; readonly ms: number | null }[]
  readonly writes: readonly {
    readonly name: string
    readonly remainingMs: number
    readonly xTimeoutMs: string
    readonly grpcTimeout: string
  }[]
  readonly trims: readonly {
    readonly name: string
    readonly timeoutMs: number
    readonly reserveMs: number
    readonly ms: number
  }[]
}

describe('vectors/deadline.json', () => {
  const url = new URL('../../../../vectors/deadline.json', import.meta.url)
  const { about: _, now, reads, writes, trims, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as Vectors

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  for (const { name, headers, ms, ...rest } of reads)
    it(`reads: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.equal(askedTimeoutMs(headers, now) ?? null, ms)
    })

  for (const { name, remainingMs, xTimeoutMs, grpcTimeout, ...rest } of writes)
    it(`writes: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.deepEqual([timeoutHeader(remainingMs), grpcTimeoutHeader(remainingMs)], [xTimeoutMs, grpcTimeout])
    })

  for (const { name, timeoutMs, reserveMs, ms, ...rest } of trims)
    it(`trims: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.equal(trimmedMs(timeoutMs, reserveMs), ms)
    })
})
