import assert from 'node:assert/strict'
import dns, { type LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it, onTestFinished, vi } from 'vitest'
import { aService } from './service.test-kit.ts'

// Real sockets, real disks: as long as the machine takes.
vi.setConfig({ testTimeout: 60_000 })

/** Whoever asks for all addresses of a name hears of two; one that is asked for by itself is itself. */
function nameLeadsToTwo(): void {
  const two = ['127.0.0.1', '127.0.0.2']
  const lookup = (host: string, _: unknown, tell: (error: null, addresses: LookupAddress[]) => void): void => {
    const addresses = two.includes(host) ? [host] : two
    process.nextTick(
      tell,
      null,
      addresses.map(address => ({ address, family: 4 })),
    )
  }
  const spied = vi.spyOn(dns, 'lookup').mockImplementation(lookup as typeof dns.lookup)
  onTestFinished(() => spied.mockRestore())
}

describe('a service that listens on localhost', () => {
  it('has one address, whatever else the name leads to: no connection is beside the rules', async () => {
    nameLeadsToTwo()
    const service = await aService({ host: 'localhost' })
    assert.equal((await service.call('/healthz')).status, 200)
    const socket = connect({ host: '127.0.0.2', port: Number(new URL(service.url).port) })
    await assert.rejects(once(socket, 'connect'), { code: 'ECONNREFUSED' })
  })
})
