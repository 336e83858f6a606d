import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createPage } from './page.ts'
import { commaSeparated, showTable, tabSeparated, type Table } from './table.ts'

const TABLE: Table = {
  columns: [{ name: 'name' }, { name: 'calls', align: 'right' }, { name: 'remark', dropOrder: 1 }],
  rows: [
    ['edge', 3, 'a "quoted", short remark'],
    ['database', 27, 'with\ttab'],
  ],
}
const page = (columns: number): ReturnType<typeof createPage> =>
  createPage({ columns, hasColors: false, isAscii: false })

describe('a table', () => {
  it('aligns numbers by their last digit, and words by their first letter', () => {
    assert.deepEqual(showTable(TABLE, page(80)).split('\n'), [
      'NAME      CALLS  REMARK',
      'edge          3  a "quoted", short remark',
      'database     27  with\ttab',
    ])
  })

  it('leaves out the least useful columns when the terminal is narrow', () => {
    assert.deepEqual(showTable(TABLE, page(20)).split('\n'), ['NAME      CALLS', 'edge          3', 'database     27'])
  })

  it('keeps the columns that must not be dropped, however narrow it gets', () => {
    assert.equal(showTable(TABLE, page(5)).split('\n')[0], 'NAME      CALLS')
  })

  it('has no tab but those between cells for other programs', () => {
    assert.equal(tabSeparated(TABLE).split('\n')[2], 'database\t27\twith tab')
  })

  it('is quoted by RFC 4180 as CSV', () => {
    assert.equal(commaSeparated(TABLE).split('\n')[1], 'edge,3,"a ""quoted"", short remark"')
  })
})
