/** One operation on one ruler: what was planned, what happened, what held it. */
import { sayMs } from '../format.ts'
import type { BackoffRuler, RulerAttempt } from '../picture.ts'
import { rulerAxis } from '../spread.ts'
import {
  EMPTY,
  framed,
  legend,
  widthBeside,
  wrapped,
  type Cell,
  type LegendEntry,
  type Line,
  type Sheet,
} from './frame.ts'

export function rulerLines(picture: BackoffRuler, sheet: Sheet): Line[] {
  const { glyphs } = sheet
  const { plan, attempts, holds = [], nowMs, deadlineMs } = picture
  const axis = rulerAxis(picture)
  const labels = [...plan.map(({ attempt }) => `plan ${attempt}`), 'attempts', ...(holds.length > 0 ? ['held'] : [])]
  const width = widthBeside(labels, sheet)
  const column = (atMs: number): number => Math.min(width - 1, Math.floor(axis.place(atMs) * width))
  const upright: Cell = { text: glyphs.upright, ink: 'capacity' }
  const arrow: Cell = { text: glyphs.now, ink: 'plain' }
  const row = (): Cell[] => {
    const cells: Cell[] = Array.from({ length: width }, () => EMPTY)
    if (deadlineMs !== undefined) cells[column(deadlineMs)] = upright
    return cells
  }
  const fill = (cells: Cell[], fromMs: number, untilMs: number, cell: Cell): Cell[] =>
    cells.fill(cell, column(fromMs), column(untilMs) + 1)

  const planned = plan.map(({ earliestMs, latestMs }) =>
    fill(row(), earliestMs, latestMs, { text: glyphs.line, ink: 'axis' }),
  )
  const happened = row()
  if (nowMs !== undefined) happened[column(nowMs)] = arrow
  for (const one of attempts) happened[column(one.atMs)] = attemptCell(one.result, sheet)
  const held = row()
  for (const { fromMs, untilMs } of holds) fill(held, fromMs, untilMs, { text: glyphs.retries, ink: 'retries' })

  const results = new Set(attempts.map(({ result }) => result))
  const entries: LegendEntry[] = [
    ...[...results].map(result => ({ ...attemptCell(result, sheet), name: result })),
    ...holds.map(({ name, fromMs, untilMs }) => ({
      text: glyphs.retries,
      ink: 'retries' as const,
      name: `${name}, ${sayMs(untilMs - fromMs)}`,
    })),
    ...(nowMs === undefined ? [] : [{ ...arrow, name: 'now' }]),
    ...(deadlineMs === undefined ? [] : [{ ...upright, name: `deadline ${sayMs(deadlineMs)}` }]),
  ]
  const rows = [...planned, happened, ...(holds.length > 0 ? [held] : [])]
  return [
    ...wrapped(`${picture.title}: time since the first attempt, log`, sheet, 'title'),
    ...legend(entries, sheet),
    ...framed({ rows, labels, axis }, sheet),
  ]
}

function attemptCell(result: RulerAttempt['result'], { glyphs }: Sheet): Cell {
  const ink = result === 'running' ? 'plain' : result
  return { text: glyphs[result], ink }
}
