import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { readHosts } from './hosts-file.ts'

describe('a hosts file', () => {
  it('gives a name all of its addresses, wherever they stand and however it is spelled', () => {
    const hosts = readHosts('127.0.0.1 localhost Api.Internal\n::1\tlocalhost # this machine\n10.0.0.7 api.internal\n')
    assert.deepEqual(
      hosts.get('localhost')!.map(({ address }) => address),
      ['127.0.0.1', '::1'],
    )
    assert.deepEqual(hosts.get('api.internal'), [
      { address: '127.0.0.1', family: 4 },
      { address: '10.0.0.7', family: 4 },
    ])
  })

  it('is read past comments, empty lines and what is no address', () => {
    assert.deepEqual([...readHosts('# 10.0.0.1 a\n\nnonsense b\n10.0.0.2 c #d\r\n').keys()], ['c'])
  })
})
