import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkReplicas, DEFAULT_REPLICAS, withReplicasDefaults } from './policy.ts'

const say = (input: unknown): string[] => checkReplicas(input, 'replicas').map(({ at, say }) => `${at} ${say}`)

describe('a choice among replicas', () => {
  it('is by default in turn, with five seconds set back, and elsewhere after two attempts at home', () => {
    const policy = withReplicasDefaults({ replicas: ['a', { name: 'b', region: 'north' }] })
    assert.deepEqual(policy, { ...DEFAULT_REPLICAS, replicas: [{ name: 'a' }, { name: 'b', region: 'north' }] })
    const { choice, setBackMs, homeAttempts } = policy
    assert.deepEqual([choice, setBackMs, homeAttempts], ['round-robin', 5_000, 2])
    assert.deepEqual(say(policy), [])
  })

  it('needs at least one replica, each with a name of its own', () => {
    for (const replicas of [undefined, [], 'a', Array.from({ length: 1_001 }, (_, n) => `${n}`)])
      assert.deepEqual(say({ replicas }), ['replicas.replicas must be a list of 1 to 1000 replicas'])
    assert.deepEqual(say({ replicas: ['a', { name: 'a' }] }), [
      'replicas.replicas is there twice: its failures would count by halves',
    ])
  })

  it('says which replica is wrong, and what others call its fields', () => {
    const [empty, nameless, unnamed, unknown] = say({ replicas: ['', { region: 'x' }, { url: 'a' }] })
    assert.match(empty!, /^replicas\.replicas\.0 must be a text .*or \{ name, region \}/)
    assert.match(nameless!, /^replicas\.replicas\.1\.name must be a text/)
    assert.match(unnamed!, /^replicas\.replicas\.2\.name must be a text/)
    assert.match(unknown!, /^replicas\.replicas\.2\.url .*did you mean name/)
    assert.match(say({ replicas: [null] })[0]!, /^replicas\.replicas\.0 must be/)
  })

  it('has a home where a replica is', () => {
    assert.deepEqual(say({ replicas: [{ name: 'a', region: 'north' }], home: 'south' }), [
      'replicas.home is the region of no replica',
    ])
    assert.deepEqual(say({ replicas: [{ name: 'a', region: 'north' }], home: 'north' }), [])
  })

  it('sets nobody back for longer than the longest', () => {
    assert.deepEqual(say({ replicas: ['a'], setBackMs: 2, maxSetBackMs: 1 }), [
      'replicas.setBackMs must not exceed maxSetBackMs, 1',
    ])
    assert.equal(withReplicasDefaults({ replicas: ['a'], setBackMs: 600_000 }).maxSetBackMs, 600_000)
  })

  it('says what is wrong with each field, and what others call it', () => {
    const [choice, share, hosts] = say({ replicas: ['a'], choice: 'best', minShare: 2, hosts: [] })
    assert.match(choice!, /^replicas\.choice must be one of round-robin, random/)
    assert.match(share!, /^replicas\.minShare must be/)
    assert.match(hosts!, /^replicas\.hosts .*did you mean replicas/)
    assert.deepEqual(say(['a']), ['replicas must be an object with replicas and what differs'])
  })
})
