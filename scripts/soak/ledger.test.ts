import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { Ledger, type Note } from './ledger.ts'

const KEY = 'soak-1-1'
const FIRST = { taskId: 'first', isCreated: true }

function aLedger() {
  const notes: Note[] = []
  return { notes, ledger: new Ledger(note => void notes.push(note)) }
}

/** A ledger with one task that was accepted at once. */
function anAccepted() {
  const { ledger, notes } = aLedger()
  ledger.submitted(KEY, 1)
  ledger.accepted(KEY, FIRST, 2)
  const task = ledger.tasks.get(KEY)
  assert.ok(task)
  return { ledger, notes, task }
}

describe('the ledger of a soak', () => {
  it('takes the same task for a key as often as it is submitted', () => {
    const { ledger } = anAccepted()
    ledger.submitted(KEY, 3)
    ledger.accepted(KEY, { taskId: 'first', isCreated: false }, 4)
    assert.deepEqual(ledger.violations, [])
    assert.equal(ledger.counts.accepted, 1)
  })

  it('takes an existing task for a submission that follows one without an answer', () => {
    const { ledger } = aLedger()
    ledger.submitted(KEY, 1)
    ledger.unanswered(KEY, 2)
    ledger.submitted(KEY, 3)
    ledger.accepted(KEY, { taskId: 'first', isCreated: false }, 4)
    assert.deepEqual(ledger.violations, [])
  })

  it('objects to an existing task at the first submission of its key', () => {
    const { ledger } = aLedger()
    ledger.submitted(KEY, 1)
    ledger.accepted(KEY, { taskId: 'first', isCreated: false }, 2)
    assert.deepEqual(ledger.violations, [`${KEY} was there at its first submission, as first`])
  })

  it('objects to a second task for a key', () => {
    const { ledger } = anAccepted()
    ledger.accepted(KEY, { taskId: 'second', isCreated: true }, 4)
    assert.deepEqual(ledger.violations, [`${KEY} has two tasks: first and second`])
  })

  it('objects to a task that is created twice under one id', () => {
    const { ledger } = anAccepted()
    ledger.accepted(KEY, FIRST, 4)
    assert.deepEqual(ledger.violations, [`${KEY} was created a second time, as first`])
  })

  it('objects to one task for two keys', () => {
    const { ledger } = anAccepted()
    ledger.submitted('soak-1-2', 3)
    ledger.accepted('soak-1-2', FIRST, 4)
    assert.deepEqual(ledger.violations, [`soak-1-2 and ${KEY} have one task: first`])
  })

  it('objects to a request for a task that was seen to have ended, and to no earlier one', () => {
    const { ledger, task } = anAccepted()
    ledger.arrived(KEY, { attempt: 1, arrivedAt: 3, answer: 'success' })
    ledger.settled(task, 'SUCCEEDED', 10)
    assert.deepEqual(ledger.violations, [])
    ledger.arrived(KEY, { attempt: 2, arrivedAt: 15, answer: 'success' })
    assert.deepEqual(ledger.violations, [`${KEY}: attempt 2 was sent 5 ms after it was seen SUCCEEDED`])
  })

  it('objects to a request for a key that was never submitted', () => {
    const { ledger } = aLedger()
    ledger.arrived('soak-1-7', { attempt: 1, arrivedAt: 3, answer: 'success' })
    assert.deepEqual(ledger.violations, ['soak-1-7 reached the sink, and was never submitted'])
  })

  it('waits for a task until its end is seen, and counts the end once', () => {
    const { ledger, task } = anAccepted()
    assert.deepEqual([...ledger.unsettled], [task])
    ledger.settled(task, 'SUCCEEDED', 5)
    ledger.settled(task, 'SUCCEEDED', 6)
    assert.deepEqual([ledger.unsettled.size, ledger.counts.settled, task.settled?.at], [0, 1, 5])
  })

  it('writes down all that it learns, violations too', () => {
    const { ledger, notes, task } = anAccepted()
    ledger.broken(task, 'GET is answered 404', 9)
    assert.deepEqual(
      notes.map(({ what, at }) => `${what} ${at}`),
      ['submitted 1', 'accepted 2', 'violation 9'],
    )
  })
})
