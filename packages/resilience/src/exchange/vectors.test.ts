import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { checkPolicy, type PipelinePolicyInput } from '../pipeline/policy.ts'
import type { Exported, Imported } from './document.ts'
import { fromEnvoy } from './from-envoy.ts'
import { fromGrpcServiceConfig } from './from-grpc.ts'
import { fromIstio, toIstio } from './istio.ts'
import { toEnvoy } from './to-envoy.ts'
import { toGrpcServiceConfig } from './to-grpc.ts'

type Format = 'grpc' | 'envoy' | 'istio'

const READ: { readonly [format in Format]: (config: unknown, method?: string) => Imported } = {
  grpc: fromGrpcServiceConfig,
  envoy: fromEnvoy,
  istio: fromIstio,
}

const WRITE: { readonly [format in Format]: (policy: PipelinePolicyInput, method?: string) => Exported<unknown> } = {
  grpc: toGrpcServiceConfig,
  envoy: toEnvoy,
  istio: toIstio,
}

interface Case {
  readonly name: string
  readonly format: Format
  readonly method?: string
  readonly config: unknown
  readonly policy?: PipelinePolicyInput
  readonly notCarried?: readonly string[]
}

interface File {
  readonly about: string
  readonly imports: readonly (Case & { readonly source: string; readonly problems?: readonly string[] })[]
  readonly exports: readonly Case[]
}

describe('vectors/exchange.json', () => {
  const url = new URL('../../../../vectors/exchange.json', import.meta.url)
  const { about: _, imports, exports, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as File
  const pathsOf = (listed?: readonly { readonly at: string }[]): string[] | undefined => listed?.map(({ at }) => at)

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  for (const { name, source, format, method, config, policy, notCarried, problems, ...rest } of imports)
    it(`${source}: ${name}`, () => {
      assert.deepEqual(rest, {})
      const imported = READ[format](config, method)
      assert.deepEqual(pathsOf(imported.problems), problems)
      assert.deepEqual(pathsOf(imported.notCarried), notCarried)
      assert.deepEqual(imported.policy, policy)
      if (policy !== undefined) assert.equal(checkPolicy(policy).problems, undefined)
    })

  for (const { name, format, method, config, policy, notCarried, ...rest } of exports)
    it(`to ${format}: ${name}`, () => {
      assert.deepEqual(rest, {})
      const exported = WRITE[format](policy!, method)
      assert.deepEqual(exported.config, config)
      assert.deepEqual(pathsOf(exported.notCarried), notCarried)
    })
})
