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
      String.raw`database     27  with\x09tab`,
    ])
  })

  it('leaves out the least useful columns when the terminal is narrow', () => {
    assert.deepEqual(showTable(TABLE, page(20)).split('\n'), ['NAME      CALLS', 'edge          3', 'database     27'])
  })

  it('leaves out what is empty in every row before what tells something', () => {
    const { columns, rows } = TABLE
    const wide: Table = {
      columns: [...columns, { name: 'ended at last', dropOrder: 9 }],
      rows: rows.map(row => [...row, '']),
    }
    assert.equal(showTable(wide, page(45)).split('\n')[0], 'NAME      CALLS  REMARK')
  })

  it('keeps the columns that must not be dropped, however narrow it gets', () => {
    assert.equal(showTable(TABLE, page(5)).split('\n')[0], 'NAME      CALLS')
  })

  it('breaks headings in two, and then words, before it is too wide', () => {
    const wide: Table = {
      columns: [
        { name: 'what it is', isProse: true },
        { name: 'calls per operation', align: 'right' },
      ],
      rows: [['a sentence of several words', 3]],
    }
    assert.deepEqual(showTable(wide, page(22)).split('\n'), [
      'WHAT        CALLS PER',
      'IT IS       OPERATION',
      'a sentence          3',
      'of several',
      'words',
    ])
  })

  it('puts below each row what may stand there, where broken words are still too wide', () => {
    const table: Table = {
      columns: [
        { name: 'id' },
        { name: 'last', isProse: true, isBelow: true },
        { name: 'calls', align: 'right', dropOrder: 1 },
      ],
      rows: [
        ['0123456789', 'http-503 of it', 3],
        ['1123456789', '', 4],
      ],
    }
    assert.deepEqual(showTable(table, page(22)).split('\n')[0], 'ID          LAST')
    assert.deepEqual(showTable(table, page(19)).split('\n'), [
      'ID          CALLS',
      '  LAST',
      '0123456789      3',
      '  http-503 of it',
      '1123456789      4',
    ])
  })

  it('breaks an address behind its scheme, and never a host or a port', () => {
    const table: Table = {
      columns: [{ name: 'destination', isAddress: true }, { name: 'held by' }],
      rows: [['http://127.0.0.1:22100', 'paused']],
    }
    assert.deepEqual(showTable(table, page(26)).split('\n').slice(1), [
      'DESTINATION      BY',
      'http://          paused',
      '127.0.0.1:22100',
    ])
  })

  it('has words for people, and a number, a unit and what is too much for a page for programs', () => {
    const said: Table = {
      columns: [
        { name: 'name' },
        { name: 'peak', field: 'peakPerSecond', align: 'right' },
        { name: 'peakPerSecondLow', isOnlyData: true },
      ],
      rows: [
        ['one', { value: 1_672.5, say: '1,673/s' }, { value: 1_600, say: '' }],
        ['none', { value: undefined, say: '' }, { value: undefined, say: '' }],
      ],
    }
    assert.deepEqual(showTable(said, page(80)).split('\n'), ['NAME     PEAK', 'one   1,673/s', 'none'])
    assert.equal(commaSeparated(said), 'name,peakPerSecond,peakPerSecondLow\none,1672.5,1600\nnone,,')
    assert.equal(tabSeparated(said).split('\n')[1], 'one\t1672.5\t1600')
  })

  it('has no tab but those between cells for other programs', () => {
    assert.equal(tabSeparated(TABLE).split('\n')[2], 'database\t27\twith tab')
  })

  it('is quoted by RFC 4180 as CSV', () => {
    assert.equal(commaSeparated(TABLE).split('\n')[1], 'edge,3,"a ""quoted"", short remark"')
  })

  it('as CSV has no formulas: what begins like one is a text, and numbers stay numbers', () => {
    const cells = ['=1+1', '+1 (555)', '-2+3', '@SUM(A1)', '\t=1', '\r=1', '-2', '+1.5e-7', 'a=b', '']
    const table: Table = { columns: [{ name: 'name' }], rows: cells.map(cell => [cell]) }
    const shown = commaSeparated(table).split('\n').slice(1)
    assert.deepEqual(
      shown.map(cell => cell.startsWith("'")),
      [true, true, true, true, true, true, false, false, false, false],
    )
  })
})
