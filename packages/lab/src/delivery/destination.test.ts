import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Destination } from './delivery.ts'
import { ScriptedDestination, type Response } from './destination.ts'

const FIRST = { attempt: 1, failFirst: 0 }

/** What it answers to one request at each instant. */
function answers(destination: Destination, atMs: readonly number[], request = FIRST): readonly Response[] {
  const scripted = new ScriptedDestination({ latencyMs: 20, errorMs: 5, ...destination }, 1)
  return atMs.map(at => scripted.answer(request, at))
}

const OK: Response = { status: 200, afterMs: 20 }
const UNAVAILABLE: Response = { status: 503, afterMs: 5 }

describe('a destination', () => {
  it('answers 200 after its latency', () => assert.deepEqual(answers({}, [0, 1]), [OK, OK]))

  it('answers after 10 to 20 ms unless told', () => {
    const scripted = new ScriptedDestination({}, 1)
    const waits = Array.from({ length: 200 }, () => scripted.answer(FIRST, 0).afterMs)
    assert.ok(Math.min(...waits) >= 10 && Math.max(...waits) <= 20)
    assert.ok(new Set(waits).size > 100)
  })

  it('that is down answers 503 from the first instant of its trouble until just before the end', () => {
    const troubles = [{ kind: 'down' as const, fromMs: 100, untilMs: 200 }]
    assert.deepEqual(answers({ troubles }, [99, 100, 199, 200]), [OK, UNAVAILABLE, UNAVAILABLE, OK])
  })

  it('that hangs never answers the requests that it gets meanwhile', () => {
    const troubles = [{ kind: 'hanging' as const, fromMs: 100, untilMs: 200 }]
    assert.deepEqual(answers({ troubles }, [150, 200]), [{ afterMs: Infinity }, OK])
  })

  it('with a limit serves a burst, then one request each time that its rate allows, and refuses the others', () => {
    const limit = { perSecond: 10, burst: 2 }
    assert.deepEqual(answers({ limit }, [0, 0, 0, 99, 100, 150, 200]), [
      OK,
      OK,
      UNAVAILABLE,
      UNAVAILABLE,
      OK,
      UNAVAILABLE,
      OK,
    ])
  })

  it('with a limit has room for the requests of a second unless told', () => {
    const limited = answers({ limit: { perSecond: 3 } }, [0, 0, 0, 0])
    assert.deepEqual(limited, [OK, OK, OK, UNAVAILABLE])
  })

  it('may refuse with 429, and say when to come back', () => {
    const limit = { perSecond: 1, status: 429, retryAfterMs: 2_000 } as const
    assert.deepEqual(answers({ limit }, [0, 0]), [OK, { status: 429, retryAfterMs: 2_000, afterMs: 5 }])
  })

  it('fails the first attempts of a task that is flaky, and all of one that is poison', () => {
    const statuses = (failFirst: number): unknown[] =>
      [1, 2, 3, 99].flatMap(attempt => answers({}, [0], { attempt, failFirst }).map(({ status }) => status))
    assert.deepEqual(statuses(2), [503, 503, 200, 200])
    assert.deepEqual(statuses(Infinity), [503, 503, 503, 503])
  })

  it('fails by chance as often as its error rate says', () => {
    const many = answers(
      { errorRate: 0.25 },
      Array.from({ length: 4_000 }, (_, at) => at),
    )
    const failed = many.filter(({ status }) => status === 503).length
    assert.ok(failed > 900 && failed < 1_100, String(failed))
  })
})
