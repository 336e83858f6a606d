import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'vitest'
import { retyped, typed, typedWith } from './typed.ts'

describe('a command that is printed to be pasted', () => {
  it('is read by a shell as it was meant', () => {
    const words = ['lab', 'run', '--policy', '{"maxAttempts":5}', "it's $HOME; `ls`", 'my policy.json', '']
    const pasted = typed(words).replace(/^secondwind/, String.raw`printf '%s\n'`)
    assert.equal(execFileSync('sh', ['-c', pasted], { encoding: 'utf8' }), `${words.join('\n')}\n`)
  })

  it('has a flag once, whichever way it was typed before', () => {
    for (const before of [['--budget', 'off'], ['--budget=off'], ['--budget', 'off', '--budget=10%'], []])
      assert.equal(
        typedWith(['lab', 'run', ...before, '--runs', '3'], '--budget', '10/s'),
        'secondwind lab run --runs 3 --budget 10/s',
      )
  })

  it('does not write over the files of the command before it', () => {
    const words = ['lab', 'run', '--html', 'a.html', 'outage', '--svg=a.svg']
    assert.equal(typedWith(words, '--runs', '20'), 'secondwind lab run outage --runs 20')
  })

  it('takes along what was given of the options that another command has, too', () => {
    const options = ['--max-peak <factor>', '--strict', '--set <path=value>', '--seed <number>'].map(flag => ({
      flag,
      say: '',
    }))
    const given = { maxPeak: '2x', strict: true, json: true, set: ['a=1', 'b=2'] }
    assert.deepEqual(retyped(given, options), ['--max-peak', '2x', '--strict', '--set', 'a=1', '--set', 'b=2'])
  })
})
