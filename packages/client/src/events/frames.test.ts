import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { FrameReader, type Frame } from './frames.ts'

function read(...pieces: string[]): Frame[] {
  const reader = new FrameReader()
  return pieces.flatMap(piece => reader.read(piece))
}

const TEXT = ': hello\nretry: 1500\n\nid: a-1\n\nevent: task\nid: a-2\ndata: {"one":1}\n\ndata\ndata: x\n\n'
const FRAMES: Frame[] = [
  { retryMs: 1_500 },
  { id: 'a-1' },
  { id: 'a-2', event: { type: 'task', data: '{"one":1}' } },
  { id: 'a-2', event: { type: 'message', data: '\nx' } },
]

describe('a stream of server-sent events', () => {
  it('is read field by field; comments and what nobody knows are nothing', () => {
    assert.deepEqual(read(TEXT), FRAMES)
    assert.deepEqual(read('unknown: 1\nretry: soon\n\n'), [{}])
    assert.deepEqual(read('data: not yet at its end\n'), [])
  })

  it('is the same in whatever pieces it comes, and with whichever line ends', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(TEXT.length * 2)), fc.constantFrom('\n', '\r\n', '\r'), (cuts, lineEnd) => {
        const text = TEXT.replaceAll('\n', lineEnd)
        const places = [0, ...cuts.map(cut => cut % text.length).toSorted((a, b) => a - b), text.length]
        const pieces = places.slice(1).map((to, at) => text.slice(places[at], to))
        // A last return may be half of a line end: what follows tells.
        assert.deepEqual(read(...pieces, ':'), FRAMES)
      }),
    )
  })

  it('is read once, in however small pieces it comes', () => {
    const data = 'x'.repeat(1_000_000)
    const reader = new FrameReader()
    const frames: Frame[] = []
    for (const letter of `data: ${data}\n\n`) frames.push(...reader.read(letter))
    assert.deepEqual(frames, [{ event: { type: 'message', data } }])
  })

  it('is given up when an event grows without end', () => {
    assert.throws(() => read('data: ', 'x'.repeat(1_100_000)), /longer than any event/)
    assert.throws(() => read('data\n'.repeat(300_000)), /longer than any event/)
  })
})
