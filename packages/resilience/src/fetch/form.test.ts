import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { encodeForm } from './form.ts'

function exampleForm(): FormData {
  const form = new FormData()
  form.append('plain', 'a value')
  form.append('with "quotes"\nand lines', 'one\ntwo\rthree\r\nfour')
  form.append('file', new Blob(['\u0000bytes'], { type: 'image/png' }), 'a "picture"\n.png')
  form.append('untyped', new Blob(['x']))
  form.append('plain', 'a second of the name: ü')
  return form
}

describe('a form as bytes', () => {
  it('is encoded as fetch itself would, but for the boundary', async () => {
    const theirs = new Response(exampleForm())
    const ours = encodeForm(exampleForm())
    const [, theirBoundary] = theirs.headers.get('content-type')!.split('boundary=')
    const [type, ourBoundary] = ours.type.split('boundary=')
    assert.equal(type, 'multipart/form-data; ')
    assert.equal(await ours.text(), (await theirs.text()).replaceAll(theirBoundary!, ourBoundary!))
  })

  it('can be read back by a server', async () => {
    const read = await new Response(encodeForm(exampleForm())).formData()
    assert.equal(read.get('plain'), 'a value')
    assert.deepEqual(read.getAll('plain')[1], 'a second of the name: ü')
    assert.equal(await (read.get('file') as File).text(), '\u0000bytes')
  })

  it('has another boundary each time, which no body can foresee', () => {
    assert.notEqual(encodeForm(exampleForm()).type, encodeForm(exampleForm()).type)
  })

  it('is an end without parts when the form is empty', async () => {
    assert.match(await encodeForm(new FormData()).text(), /^------secondwind-[\w-]+--\r\n$/)
  })
})
